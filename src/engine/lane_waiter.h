// SPDX-License-Identifier: BSD-3-Clause
// lane_waiter.h - how threads of the program wait on a lane: driving it, looking on, asleep.
#pragma once
#include <heddle/completion.h>

#include <cstddef>
#include <cstdint>

#include "engine/courtesy.h"
#include "engine/lane_driver.h"
#include "engine/lane_sleeper.h"
#include "engine/wait_habit.h"
#include "sync/sequential.h"
#include "sync/waker.h"

namespace heddle::engine {

class lane_waiter {
 public:
  explicit lane_waiter(lane_driver& of) noexcept
      : driver_(of), sleeper_(of), courtesy_(of.help().cores, of.help().ranks_per_core) {}

  /// Any thread of the program. Polls, then sleeps, until `s` has counted to `target`. False:
  /// `deadline_ns` came first (0: none), or the world has ended.
  bool wait(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept {
    if (habit_.has_left()) [[unlikely]]
      note_wait();
    return s.count() >= target || wait_on(s, target, deadline_ns);
  }
  /// The holder, for a blocking form that has just posted: goes on to poll, unless others wait.
  void poll_at_once(const detail::signal& s, protocols::delivery_batch& batch) noexcept;
  /// How many wait.
  [[nodiscard]] int threads() const noexcept { return waiting_.get(); }
  /// Several threads wait here on few cores, and leave the polling to the executor.
  [[nodiscard]] bool executor_polls() const noexcept {
    return threads() > 1 && crowded() && !driver_.help().dedicated() &&
           !driver_.help().only_inline();
  }
  [[nodiscard]] const lane_sleeper& sleeper() const noexcept { return sleeper_; }
  [[nodiscard]] wait_habit& habit() noexcept { return habit_; }
  /// At the end of the world, when everything on all lanes has been delivered: nobody waits any
  /// more. False: somebody still does, for a moment.
  bool part() noexcept;

 private:
  [[nodiscard]] bool alone() const noexcept {
    return threads() == 0 && !driver_.help().dedicated();
  }
  /// Who waits awake takes a core from others: more threads wait now and then than there are cores,
  /// or what is awaited comes from a peer on this core.
  [[nodiscard]] bool crowded() const noexcept {
    return sync::thread_waker::threads() > courtesy_.awake();
  }
  [[nodiscard]] bool patient() const noexcept;
  [[gnu::noinline]] void note_wait() noexcept;
  [[gnu::noinline]] bool wait_on(detail::signal& s, std::uint64_t target,
                                 std::uint64_t deadline_ns) noexcept;
  [[gnu::noinline]] bool wait_long(detail::signal& s, std::uint64_t target,
                                   std::uint64_t deadline_ns) noexcept;
  /// What a spin has found out.
  struct spun {
    bool over;        ///< it has counted to the target
    bool after_gift;  ///< and another thread was let run before
  };
  spun spin(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept;
  [[nodiscard]] std::uint64_t look_ns() noexcept;
  std::size_t drive(const detail::signal& s, std::uint64_t target) noexcept;
  std::size_t poll_turn(const detail::signal& s, std::uint64_t target,
                        protocols::delivery_batch& batch, bool gathers) noexcept;
  void look_on(const detail::signal& s, std::uint64_t target) const noexcept;

  lane_driver& driver_;
  lane_sleeper sleeper_;
  courtesy courtesy_;
  wait_habit habit_;
  sync::sequential_count waiting_;  // threads in wait()
  sync::sequential_flag parted_;
};

}  // namespace heddle::engine
