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

/// What has to be known of an operation that is watched, until it has ended.
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

extern constinit sync::published<const operation_hooks*> hooks_now;
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

void tell_begin(operation_under_way& u) noexcept;
void tell_end(const operation_under_way& u, status s) noexcept;

/// `u` has ended: the thread of `by` writes it down.
[[gnu::always_inline]] inline void add(scribe& by, event_kind kind, const operation_under_way& u,
                                       std::uint64_t end, status code) noexcept {
  event e;
  e.kind = kind;
  e.operation = u.of.kind;
  e.timed = u.timed;
  e.code = code;
  e.self = u.of.self;
  e.peer = u.of.peer;
  e.lane = u.of.lane;
  e.began_on = u.began_on;
  e.begin = u.begin;
  e.end = end;
  e.amount = u.of.bytes;
  e.tag = u.of.tag;
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
[[nodiscard, gnu::always_inline]] inline bool passes_by() noexcept {
  return sync::is_only(sync::special::watched) && !wants_next();
}

/// Where wants_next(), once for it. On the stack of the call that posts, and all of it inline
/// there: it costs less than what an operation does. All it knows lies where its end finds it from
/// the start, since copies of it would cost as much as the record.
class operation {
 public:
  [[gnu::always_inline]] explicit operation(const operation_info& of) noexcept
      : under_way_(detail::take()) {
    if (under_way_ == nullptr) [[unlikely]]  // nobody is told of this one
      return;
    operation_under_way& u = *under_way_;
    u.of = of;
    u.heard = detail::hooks_now.get();
    // Where hooks want all, wants_next() has not counted.
    u.recorded = is_recorded() && (u.heard == nullptr || samples_next());
    if (u.heard != nullptr) [[unlikely]]
      detail::tell_begin(u);
    if (!u.recorded) return;
    count_sample_anew();
    by_ = scribe::mine();
    if (by_ == nullptr) [[unlikely]] {
      u.recorded = false;
      return;
    }
    by_->set_place({of.self, of.lane});
    u.began_on = by_->thread();
    u.timed = by_->times_next(of.bytes);
    u.begin = u.timed ? ticks() : by_->last();
  }

  /// What to post with; `done` itself where nobody is to hear of the end.
  // Written now, since the operation may end before its post has been answered.
  [[nodiscard, gnu::always_inline]] completion instead_of(const completion& done) noexcept {
    if (under_way_ == nullptr) [[unlikely]]
      return done;
    under_way_->done = done;
    return {&detail::deliver, under_way_, 0};
  }

  /// The answer to the post, to which instead_of() has been given if it can be `posted`; returns
  /// it.
  [[gnu::always_inline]] status answered(status s) noexcept {
    if (under_way_ == nullptr) [[unlikely]]
      return s;
    if (s == status::posted) {  // its end may have been already
      if (by_ != nullptr) by_->time_next();
      return s;
    }
    operation_under_way& u = *under_way_;
    if (by_ != nullptr && !is_busy(s)) {
      detail::add(*by_, event_kind::at_once, u, u.timed ? ticks() : u.begin, s);
      if (u.timed) by_->was_timed();
    }
    if (u.heard != nullptr) [[unlikely]]
      detail::tell_end(u, s);
    detail::give_back(u);
    return s;
  }

 private:
  operation_under_way* const under_way_;
  scribe* by_ = nullptr;  // null: it is not recorded
};

/// What was given to the post of an operation that has not ended, watched or not.
[[nodiscard]] const completion& of_program(const completion& posted) noexcept;

}  // namespace heddle::trace
