// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/operation.h"

#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "sync/published.h"

namespace heddle::trace {

constinit sync::published<const operation_hooks*> detail::hooks_now{nullptr};

constinit thread_local operation_under_way* detail::spare = nullptr;

namespace {

/// Those that no thread keeps. Bounded: beyond it operations are not watched.
class store {
 public:
  static constexpr std::size_t at_a_time = 64, most = 1 << 16;
  static store& only() {
    static auto* const one = new store;
    return *one;
  }
  void take(std::vector<operation_under_way*>& into) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) grow();
    for (std::size_t i = 0; i < at_a_time && !free_.empty(); ++i) {
      into.push_back(free_.back());
      free_.pop_back();
    }
  }
  void give_back(std::vector<operation_under_way*>& from, std::size_t count) noexcept {
    const std::lock_guard lock(mutex_);
    for (; count != 0; --count) {
      free_.push_back(from.back());
      from.pop_back();
    }
  }

 private:
  void grow() {
    if (blocks_.size() * at_a_time >= most) return;
    free_.reserve((blocks_.size() + 1) * at_a_time);  // so that giving back cannot fail
    blocks_.push_back(std::make_unique<operation_under_way[]>(at_a_time));
    for (std::size_t i = 0; i < at_a_time; ++i) free_.push_back(&blocks_.back()[i]);
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<operation_under_way[]>> blocks_;
  std::vector<operation_under_way*> free_;
};

/// What a thread keeps of them, so that most cost no lock.
struct stock {
  std::vector<operation_under_way*> all;
  stock() { all.reserve(2 * store::at_a_time); }
  ~stock();
};
stock& my_stock() {
  static thread_local stock mine;
  return mine;
}

stock::~stock() {
  if (detail::spare != nullptr) all.push_back(std::exchange(detail::spare, nullptr));
  store::only().give_back(all, all.size());
}

}  // namespace

[[gnu::noinline]] void detail::take_spare() noexcept {
  try {
    auto& all = my_stock().all;
    if (all.empty()) store::only().take(all);
    if (all.empty()) return;
    spare = all.back();
    all.pop_back();
  } catch (const std::bad_alloc&) {
  }
}

void detail::give_back(operation_under_way& one) noexcept {
  if (spare == nullptr) {
    spare = &one;
    return;
  }
  auto& all = my_stock().all;
  if (all.size() == 2 * store::at_a_time) store::only().give_back(all, store::at_a_time);
  all.push_back(&one);  // there is room
}

void detail::deliver(void* owner, std::uint64_t, const outcome& what) noexcept {
  auto& ended = *static_cast<operation_under_way*>(owner);
  operation_info of = ended.of;
  of.bytes = what.bytes;
  if (of.kind == operation_kind::recv && what.peer != any_source) {
    of.peer = what.peer;
    of.tag = what.tag;
  }
  if (ended.recorded)
    if (scribe* const by = scribe::mine(); by != nullptr)
      add(*by, event_kind::operation, of, {ended.begin, ended.began_on, ended.timed}, ticks(),
          what.code);
  if (ended.heard != nullptr && ended.heard->end != nullptr)
    ended.heard->end(ended.heard->context, ended.mark, of, what.code);
  const completion done = ended.done;
  give_back(ended);
  done(what);
}

[[gnu::noinline]] bool passes_by() noexcept {
  return sync::is_only(sync::special::watched) && !wants_next();
}

[[gnu::noinline]] void operation::tell_begin() noexcept {
  if (heard_->begin != nullptr) mark_ = heard_->begin(heard_->context, of_);
}

[[gnu::noinline]] void operation::tell_end(status s) const noexcept {
  if (heard_->end != nullptr) heard_->end(heard_->context, mark_, of_, s);
}

const completion& of_program(const completion& posted) noexcept {
  return posted.deliver == &detail::deliver
             ? static_cast<const operation_under_way*>(posted.owner)->done
             : posted;
}

}  // namespace heddle::trace

namespace heddle {

std::string_view name_of(operation_kind k) noexcept {
  constexpr std::array<std::string_view, 10> names{"put",    "put_notify", "put_signal", "get",
                                                   "atomic", "send",       "recv",       "call",
                                                   "flush",  "when_ready"};
  const auto i = static_cast<std::size_t>(k);
  return i < names.size() ? names[i] : "unknown";
}

void set_operation_hooks(const operation_hooks& hooks) {
  static std::mutex mutex;
  static auto* const all = new std::vector<std::unique_ptr<const operation_hooks>>;
  const std::lock_guard lock(mutex);
  const bool before = trace::detail::hooks_now.get() != nullptr;
  const bool now = hooks.begin != nullptr || hooks.end != nullptr;
  if (now)
    all->push_back(std::make_unique<const operation_hooks>(hooks));  // some operation's still
  trace::detail::hooks_now.set(now ? all->back().get() : nullptr);
  if (now && !before) trace::add_watcher();
  if (before && !now) trace::remove_watcher();
}

}  // namespace heddle
