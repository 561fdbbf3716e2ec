// completion.cpp - flag, counter, completion_queue.
#include <heddle/completion.h>

#include <deque>
#include <mutex>
#include <vector>

namespace heddle {

void flag::deliver(void* owner, std::uint64_t, const outcome& what) noexcept {
  auto& self = *static_cast<flag*>(owner);
  self.outcome_ = what;
  self.signal_.raise();  // last: the waiter may destroy the flag from here on
}

void counter::deliver(void* owner, std::uint64_t, const outcome& what) noexcept {
  static_cast<counter*>(owner)->signal_.raise(what.code);
}

struct completion_queue::state {
  std::mutex mutex;
  std::vector<entry> ring;  // oldest at first
  std::size_t first = 0, used = 0;
  std::deque<entry> overflow;  // newer than everything in ring
};

completion_queue::completion_queue(std::size_t capacity) : state_(std::make_unique<state>()) {
  state_->ring.resize(capacity == 0 ? 1 : capacity);
}

completion_queue::~completion_queue() = default;

void completion_queue::deliver(void* owner, std::uint64_t cookie, const outcome& what) noexcept {
  auto& self = *static_cast<completion_queue*>(owner);
  state& s = *self.state_;
  {
    const std::lock_guard lock(s.mutex);
    if (s.used < s.ring.size() && s.overflow.empty()) {
      s.ring[(s.first + s.used++) % s.ring.size()] = {cookie, what};
    } else {
      s.overflow.push_back({cookie, what});
    }
    self.signal_.raise();  // under the lock: whoever popped the entry may destroy the queue
  }
}

bool completion_queue::try_pop(entry& out) noexcept {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.used == 0) return false;
  out = s.ring[s.first];
  s.first = (s.first + 1) % s.ring.size();
  --s.used;
  if (!s.overflow.empty()) {
    s.ring[(s.first + s.used++) % s.ring.size()] = s.overflow.front();
    s.overflow.pop_front();
  }
  return true;
}

}  // namespace heddle
