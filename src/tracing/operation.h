// SPDX-License-Identifier: BSD-3-Clause
// operation.h - an operation that somebody watches, from its post to its end.
//
// What is posted instead of the program's completion is one of ours, which writes down the end and
// then runs the program's. So nothing below the lane's calls knows of it.
#pragma once
#include <heddle/completion.h>
#include <heddle/trace.h>

#include <cstdint>

#include "sync/published.h"
#include "tracing/recorder.h"

namespace heddle::trace {

/// What has to be known of an operation that is watched when it ends.
struct operation_under_way {
  operation_info of;
  const operation_hooks* heard = nullptr;
  std::uint64_t begin = 0, mark = 0;
  std::uint32_t began_on = 0;
  bool recorded = false, timed = true;
  completion done;
};

namespace detail {

extern constinit sync::published<const operation_hooks*> hooks_now;
/// The one that the calling thread's next post takes, if it is posted; null: there is none yet.
extern constinit thread_local operation_under_way* spare;
void take_spare() noexcept;
void give_back(operation_under_way& one) noexcept;
/// The completion of all that is watched.
void deliver(void* owner, std::uint64_t cookie, const outcome& what) noexcept;

/// When and where an operation began.
struct beginning {
  std::uint64_t ticks;
  std::uint32_t thread;  ///< 0: the calling one
  bool timed;
};
[[gnu::always_inline]] inline void add(scribe& by, event_kind kind, const operation_info& of,
                                       const beginning& from, std::uint64_t end,
                                       status code) noexcept {
  event e;
  e.kind = kind;
  e.operation = of.kind;
  e.timed = from.timed;
  e.code = code;
  e.self = of.self;
  e.peer = of.peer;
  e.lane = of.lane;
  e.began_on = from.thread;
  e.begin = from.ticks;
  e.end = end;
  e.amount = of.bytes;
  e.tag = of.tag;
  by.add(e);
}

}  // namespace detail

/// False: nothing of the calling thread's next operation is to be told. Only while is_watched().
[[nodiscard]] inline bool wants_next() noexcept {
  return detail::hooks_now.get() != nullptr || samples_next();
}

/// For a call of a lane: somebody watches, nothing else is special, and the operation is not
/// wanted. False as well where it is wanted, and then it is counted: wants_next() is not asked
/// again.
[[nodiscard]] bool passes_by() noexcept;

/// Where wants_next(), once for it. On the stack of the call that posts, and all of it inline
/// there: it costs less than what an operation does.
class operation {
 public:
  [[gnu::always_inline]] explicit operation(const operation_info& of) noexcept
      : of_(of), heard_(detail::hooks_now.get()) {
    // Where hooks want all, wants_next() has not counted.
    if (is_recorded() && (heard_ == nullptr || samples_next())) {
      count_sample_anew();
      by_ = scribe::mine();
    }
    if (heard_ != nullptr) [[unlikely]]
      tell_begin();
    if (by_ == nullptr) return;
    by_->set_place({of.self, of.lane});
    timed_ = by_->times_next(of.bytes);
    begin_ = timed_ ? ticks() : by_->last();
  }

  /// What to post with; `done` itself where nobody is to hear of the end.
  // Written now, since the operation may end before its post has been answered.
  [[nodiscard, gnu::always_inline]] completion instead_of(const completion& done) noexcept {
    if (detail::spare == nullptr) [[unlikely]]
      detail::take_spare();
    under_way_ = detail::spare;
    if (under_way_ == nullptr) return done;  // too many: this one is told of as if it ended now
    detail::spare = nullptr;
    *under_way_ = {
        of_,    heard_, begin_, mark_, by_ != nullptr ? by_->thread() : 0, by_ != nullptr,
        timed_, done};
    return {&detail::deliver, under_way_, 0};
  }

  /// The answer to the post; returns it.
  [[gnu::always_inline]] status answered(status s) noexcept {
    if (under_way_ != nullptr) {
      if (s == status::posted) {  // its end may have been already
        if (by_ != nullptr) by_->time_next();
        return s;
      }
      if (detail::spare == nullptr) [[likely]]
        detail::spare = under_way_;
      else
        detail::give_back(*under_way_);
    }
    if (by_ != nullptr && !is_busy(s)) {
      detail::add(*by_, event_kind::at_once, of_, {begin_, 0, timed_}, timed_ ? ticks() : begin_,
                  s);
      if (timed_) by_->was_timed();
    }
    if (heard_ != nullptr) [[unlikely]]
      tell_end(s);
    return s;
  }

 private:
  void tell_begin() noexcept;
  void tell_end(status s) const noexcept;

  const operation_info of_;
  scribe* by_ = nullptr;                    // null: it is not recorded
  const operation_hooks* heard_ = nullptr;  // null: no tool listens
  operation_under_way* under_way_ = nullptr;
  std::uint64_t begin_ = 0, mark_ = 0;
  bool timed_ = true;
};

/// What was given to the post of an operation that has not ended, watched or not.
[[nodiscard]] const completion& of_program(const completion& posted) noexcept;

}  // namespace heddle::trace
