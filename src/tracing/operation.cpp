// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/operation.h"

#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "sync/release_acquire.h"

namespace heddle::trace {

constinit sync::release_acquire<const operation_hooks*> detail::hooks_now{nullptr};

constinit thread_local detail::spares detail::mine;

namespace {

/// Those that no thread keeps. Bounded: beyond it operations are not watched.
class store {
 public:
  static constexpr std::size_t most_blocks = 1024;
  static store& only() {
    static auto* const one = new store;
    return *one;
  }
  /// A block's worth of them, or fewer; throws bad_alloc.
  void give(detail::spares& to) {
    const std::lock_guard lock(mutex_);
    if (free_.first == nullptr && blocks_.size() < most_blocks) {
      blocks_.push_back(std::make_unique<operation_under_way[]>(detail::spares::at_a_time));
      for (std::uint32_t i = 0; i < detail::spares::at_a_time; ++i) push(free_, blocks_.back()[i]);
    }
    move(free_, to, detail::spares::at_a_time);
  }
  void take(detail::spares& from, std::uint32_t count) noexcept {
    const std::lock_guard lock(mutex_);
    move(from, free_, count);
  }

 private:
  static void push(detail::spares& to, operation_under_way& one) noexcept {
    one.next = to.first;
    to.first = &one;
    ++to.count;
  }
  static void move(detail::spares& from, detail::spares& to, std::uint32_t count) noexcept {
    for (; count != 0 && from.first != nullptr; --count) {
      operation_under_way& one = *from.first;
      from.first = one.next;
      --from.count;
      push(to, one);
    }
  }
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<operation_under_way[]>> blocks_;
  detail::spares free_;
};

/// At the end of a thread what it keeps goes back.
struct returner {
  ~returner() { store::only().take(detail::mine, detail::mine.count); }
};

}  // namespace

[[gnu::noinline]] void detail::begin_to_keep() noexcept {
  static const thread_local returner at_end;
  (void)at_end;
}

[[gnu::noinline]] void detail::take_more() noexcept {
  begin_to_keep();
  try {
    store::only().give(mine);
  } catch (const std::bad_alloc&) {
  }
}

[[gnu::noinline]] void detail::keep_fewer() noexcept {
  store::only().take(mine, spares::at_a_time);
}

void detail::deliver(void* owner, std::uint64_t cookie, const outcome& what) noexcept {
  completion done{&deliver, owner, cookie};
  ends_together().tell(done, what);
  done(what);
}

namespace {
void tell_end(const operation_under_way& u, status s) noexcept {
  if (u.heard != nullptr && u.heard->end != nullptr)
    u.heard->end(u.heard->context, u.mark, u.of, s);
}
}  // namespace

[[gnu::cold]] void operation::tell_begin(const operation_hooks& heard) noexcept {
  under_way_ = detail::take();
  if (under_way_ == nullptr) return;  // then it is not told of its end either
  under_way_->heard = &heard;
  under_way_->of = of_;
  under_way_->mark = heard.begin != nullptr ? heard.begin(heard.context, of_) : 0;
}

[[gnu::cold]] void operation::end_unposted(status s) noexcept {
  tell_end(*under_way_, s);
  detail::give_back(*under_way_);
}

void ends_together::tell_watched(completion& done, const outcome& what) noexcept {
  auto& ended = *static_cast<operation_under_way*>(done.owner);
  ended.of.bytes = what.bytes;
  if (ended.of.kind == operation_kind::recv && what.peer != any_source) {
    ended.of.peer = what.peer;
    ended.of.tag = what.tag;
  }
  if (ended.recorded)
    if (thread_recorder* const by = thread_recorder::mine(); by != nullptr) {
      if (at_ == 0) at_ = ticks();
      by->time_next();
      event e = event_of(ended.of, event_kind::operation, what.code);
      e.timed = ended.timed;
      e.began_on = ended.began_on;
      e.begin = ended.begin;
      e.end = at_;
      by->add(e);
    }
  tell_end(ended, what.code);
  done = ended.done;
  detail::give_back(ended);
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
