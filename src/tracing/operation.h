// SPDX-License-Identifier: BSD-3-Clause
// operation.h - an operation that somebody watches, from its post to its end.
//
// What is posted instead of the program's completion is one of ours, which writes down the end and
// then runs the program's. So nothing below the lane's calls knows of it.
#pragma once
#include <heddle/completion.h>
#include <heddle/trace.h>

#include <cstdint>

#include "sync/release_acquire.h"
#include "tracing/recorder.h"

namespace heddle::trace {

/// What has to be known of an operation that is watched and posted, until it has ended.
struct operation_under_way {
  operation_info of;
  const operation_hooks* heard = nullptr;  ///< null: no tool listens
  std::uint64_t begin = 0, mark = 0;
  std::uint32_t began_on = 0;
  bool recorded = false, timed = true;
  completion done;
  operation_under_way* next = nullptr;  ///< of those that are free
};

namespace detail {

extern constinit sync::release_acquire<const operation_hooks*> hooks_now;
/// Those that are free, and a thread keeps for its next operations: most cost no lock.
struct spares {
  static constexpr std::uint32_t at_a_time = 64;
  operation_under_way* first = nullptr;
  std::uint32_t count = 0;
};
extern constinit thread_local spares mine;
void take_more() noexcept;
void begin_to_keep() noexcept;
void keep_fewer() noexcept;

/// Null: there are too many.
[[gnu::always_inline]] inline operation_under_way* take() noexcept {
  if (mine.first == nullptr) [[unlikely]]
    take_more();
  operation_under_way* const one = mine.first;
  if (one == nullptr) [[unlikely]]
    return nullptr;
  mine.first = one->next;
  --mine.count;
  return one;
}
[[gnu::always_inline]] inline void give_back(operation_under_way& one) noexcept {
  if (mine.first == nullptr) [[unlikely]]
    begin_to_keep();
  one.next = mine.first;
  mine.first = &one;
  if (++mine.count == 2 * spares::at_a_time) [[unlikely]]
    keep_fewer();
}
/// The completion of all that is watched.
void deliver(void* owner, std::uint64_t cookie, const outcome& what) noexcept;

}  // namespace detail

[[nodiscard]] inline event event_of(const operation_info& of, event_kind kind,
                                    status code) noexcept {
  event e;
  e.kind = kind;
  e.operation = of.kind;
  e.code = code;
  e.self = of.self;
  e.peer = of.peer;
  e.lane = of.lane;
  e.amount = of.bytes;
  e.tag = of.tag;
  return e;
}

/// False: nothing of the calling thread's next operation is to be told. Only while is_watched().
[[nodiscard]] inline bool wants_next() noexcept {
  return detail::hooks_now.get() != nullptr || samples_next();
}

/// For a call of a lane: somebody watches, nothing else is special, and the operation is not
/// wanted. False as well where it is wanted, and then it is counted: wants_next() is not asked
/// again.
[[nodiscard, gnu::always_inline]] inline bool passes_by() noexcept {
  return sync::is_only(sync::special::watched) && !wants_next();
}

/// Where wants_next(), once for it. On the stack of the call that posts, and all of it inline
/// there: it costs less than what an operation does. Only what may be posted takes an
/// operation_under_way.
class operation {
 public:
  [[gnu::always_inline]] explicit operation(const operation_info& of) noexcept : of_(of) {
    const operation_hooks* const heard = detail::hooks_now.get();
    // Where hooks want all, wants_next() has not counted.
    const bool recorded = is_recorded() && (heard == nullptr || samples_next());
    if (heard != nullptr) [[unlikely]]
      tell_begin(*heard);
    if (!recorded) return;
    count_sample_anew();
    by_ = thread_recorder::mine();
    if (by_ == nullptr) [[unlikely]]
      return;
    by_->set_place({of.self, of.lane});
    timed_ = by_->times_next(of.bytes);
    begin_ = timed_ ? ticks() : by_->last();
  }
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  /// What to post with; `done` itself where nobody is to hear of the end.
  // Written now, since the operation may end before its post has been answered.
  [[nodiscard, gnu::always_inline]] completion instead_of(const completion& done) noexcept {
    if (under_way_ == nullptr) {  // no hooks
      if (by_ == nullptr) return done;
      under_way_ = detail::take();
      if (under_way_ == nullptr) [[unlikely]]
        return done;
      under_way_->heard = nullptr;
    }
    operation_under_way& u = *under_way_;
    u.of = of_;
    u.recorded = by_ != nullptr;
    if (by_ != nullptr) {
      u.began_on = by_->thread();
      u.timed = timed_;
      u.begin = begin_;
    }
    u.done = done;
    return {&detail::deliver, under_way_, 0};
  }

  /// The answer to the post, to which instead_of() has been given if it can be `posted`; returns
  /// it.
  [[gnu::always_inline]] status answered(status s) noexcept {
    if (s == status::posted) {  // its end may have been already
      if (by_ != nullptr && timed_) by_->was_timed(begin_);
      return s;
    }
    if (by_ != nullptr && !is_busy(s)) {
      event e = event_of(of_, event_kind::at_once, s);
      e.timed = timed_;
      e.began_on = by_->thread();
      e.begin = begin_;
      e.end = timed_ ? ticks() : begin_;
      by_->add(e);
      if (timed_) by_->was_timed(e.end);
    }
    if (under_way_ != nullptr) [[unlikely]]
      end_unposted(s);
    return s;
  }

 private:
  void tell_begin(const operation_hooks& heard) noexcept;
  void end_unposted(status s) noexcept;

  const operation_info of_;
  operation_under_way* under_way_ = nullptr;
  thread_recorder* by_ = nullptr;  // null: it is not recorded
  std::uint64_t begin_ = 0;
  bool timed_ = true;
};

/// Operations that are delivered together had ended before: one reading of the clock does for all.
class ends_together {
 public:
  /// One of them has this completion. If it is watched, its end is told, and `done` is the
  /// program's own from then on.
  [[gnu::always_inline]] void tell(completion& done, const outcome& what) noexcept {
    if (done.deliver == &detail::deliver) tell_watched(done, what);
  }

 private:
  void tell_watched(completion& done, const outcome& what) noexcept;
  std::uint64_t at_ = 0;  // 0: not read yet
};

/// What was given to the post of an operation that has not ended, watched or not.
[[nodiscard]] const completion& of_program(const completion& posted) noexcept;

}  // namespace heddle::trace
