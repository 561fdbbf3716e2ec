// SPDX-License-Identifier: BSD-3-Clause
// completion.cpp - flag, counter, event_descriptor, completion_queue.
#include <heddle/completion.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "protocols/delivery.h"
#include "sync/fork.h"
#include "sync/misuse.h"

namespace heddle {

completion detail::awaited::by(flag& f) noexcept {
  return {&flag::deliver, &f, reinterpret_cast<std::uintptr_t>(&protocols::delivery_batch::mine())};
}

const detail::signal* detail::awaited::in(const completion& c) noexcept {
  return c.deliver == &flag::deliver && c.cookie != 0 ? &static_cast<flag*>(c.owner)->signal_
                                                      : nullptr;
}

detail::expected_ending::expected_ending(const completion& c) noexcept {
  if (c.deliver == &flag::deliver) {
    raised_ = &static_cast<flag*>(c.owner)->signal_;
    taken_ = raised_->expecting() || raised_->count() != 0;
  } else if (c.deliver == &counter::deliver) {
    raised_ = &static_cast<counter*>(c.owner)->signal_;
  } else if (c.deliver == &event_descriptor::deliver) {
    raised_ = &static_cast<event_descriptor*>(c.owner)->signal_;
  } else if (c.deliver == &completion_queue::deliver) {
    raised_ = &static_cast<completion_queue*>(c.owner)->signal_;
  }
  if (raised_ != nullptr) raised_->expect(1);
}

void detail::end_in_flight(const char* what) noexcept {
  if (sync::forked()) return;
  sync::end_for_misuse({}, fmt::format("{} ends or is reset while an operation holds it", what),
                       "wait for the operation first, or cancel the receive and wait");
}

void flag::deliver(void* owner, std::uint64_t, const outcome& what) noexcept {
  auto& self = *static_cast<flag*>(owner);
  self.outcome_ = what;
  self.signal_.raise();  // last: the waiter may destroy the flag from here on
}

void counter::deliver(void* owner, std::uint64_t, const outcome& what) noexcept {
  static_cast<counter*>(owner)->signal_.raise(what.code);
}

event_descriptor::event_descriptor() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) fail_errno(errno, "event_descriptor: no descriptor left (ulimit -n)");
}

event_descriptor::~event_descriptor() {
  if (signal_.expecting()) detail::end_in_flight("an event_descriptor");
  close(fd_);
}

void event_descriptor::deliver(void* owner, std::uint64_t, const outcome& what) noexcept {
  static_cast<event_descriptor*>(owner)->raise(what.code, 1);
}

void event_descriptor::raise(status first_failure, std::uint64_t n) noexcept {
  signal_.raise(first_failure, n);
  eventfd_write(fd_, n);  // last: whoever takes these endings may destroy the object
}

std::uint64_t event_descriptor::take() noexcept {
  eventfd_t n = 0;
  if (eventfd_read(fd_, &n) != 0) return 0;
  (void)signal_.count();  // acquires what those who wrote the descriptor released before
  return n;
}

namespace detail {

bool raises_only(const completion& c) noexcept {
  return c.deliver == &flag::deliver || c.deliver == &counter::deliver;
}

bool many_endings::possible(const completion& c) noexcept {
  return c.deliver == &counter::deliver || c.deliver == &event_descriptor::deliver;
}

void many_endings::deliver(const completion& c, std::uint64_t n, status first_failure) noexcept {
  if (c.deliver == &counter::deliver)
    return static_cast<counter*>(c.owner)->signal_.raise(first_failure, n);
  static_cast<event_descriptor*>(c.owner)->raise(first_failure, n);
}

}  // namespace detail

struct completion_queue::state {
  std::mutex mutex;
  std::vector<entry> ring;  // oldest at first
  std::size_t first = 0, used = 0;
  std::deque<entry> overflow;  // newer than everything in ring
};

completion_queue::completion_queue(std::size_t capacity) : state_(std::make_unique<state>()) {
  state_->ring.resize(capacity == 0 ? 1 : capacity);
}

completion_queue::~completion_queue() {
  if (signal_.expecting()) detail::end_in_flight("a completion_queue");
  const std::lock_guard lock(state_->mutex);  // who delivered what was waited for lets go first
}

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
    self.signal_.raise();  // under the lock: whoever waited for the entry may destroy the queue
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
