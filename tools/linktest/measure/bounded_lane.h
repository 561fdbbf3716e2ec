// SPDX-License-Identifier: BSD-3-Clause
// bounded_lane.h - operations of a lane of which none is waited for without a limit.
#pragma once
#include <heddle/lane.h>
#include <heddle/world.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "linktest/measure/awake_time.h"
#include "linktest/measure/messenger.h"
#include "linktest/measure/roll_call.h"

namespace heddle::linktest {

/// Completions of operations that were given up: they may still be delivered, even while the world
/// ends. Must outlive the world.
class abandoned {
 public:
  void keep(std::unique_ptr<flag> f) { flags_.push_back(std::move(f)); }
  /// Whether every one has been delivered, so that nothing writes to the messages' memory any more.
  [[nodiscard]] bool settled() const noexcept;

 private:
  std::vector<std::unique_ptr<flag>> flags_;
};

/// Posts and waits as long as the patience says. What is not done by then is taken back, or kept
/// aside. One thread at a time.
class bounded_lane {
 public:
  /// One operation and its completion; `waiting` while it was accepted and has not been awaited.
  struct slot {
    std::unique_ptr<flag> done = std::make_unique<flag>();
    bool waiting = false;
  };

  /// All of them outlive it. `timeout` is the usual patience. Without `asked` nobody is asked
  /// whether he still moves, and a meeting waits for many timeouts.
  bounded_lane(lane& path, std::chrono::nanoseconds timeout, abandoned& given_up,
               roll_call* asked = nullptr)
      : lane_(path), timeout_(timeout), given_up_(given_up), asked_(asked) {}

  [[nodiscard]] lane& path() noexcept { return lane_; }

  /// Asks until the lane takes the operation. done, posted or a refusal; peer_lost when the lane
  /// stays busy for longer than the timeout.
  template <class Operation>
  status post(slot& s, Operation operation);
  /// The outcome of what was posted; done at once when that needed no completion.
  status finish(slot& s, rank peer, patience how = patience::usual) {
    return s.waiting ? finish_waiting(s, peer, how) : status::done;
  }
  /// post() and finish().
  template <class Operation>
  status run(slot& s, rank peer, Operation operation);
  /// Calls operation(i, completion) for `count` numbers from 0 with at most `window` in flight, and
  /// waits for all. The first failure ends it.
  template <class Operation>
  status run_burst(rank peer, std::uint64_t count, std::uint64_t window, Operation operation);
  /// False: `target` was not reached in time.
  bool await(counter& arrived, std::uint64_t target, rank peer);
  void give_up(slot& s);
  void give_up(std::vector<slot>& all);

 private:
  status finish_waiting(slot& s, rank peer, patience how);
  template <class Event>
  bool await_with(rank peer, patience how, const Event& wait_for);

  lane& lane_;
  std::chrono::nanoseconds timeout_;
  abandoned& given_up_;
  roll_call* asked_;
  std::vector<slot> burst_;
};

template <class Operation>
status bounded_lane::post(slot& s, Operation operation) {
  s.done->reset();
  status answer = operation(*s.done);
  if (is_busy(answer)) {
    awake_time waited;
    while (is_busy(answer = operation(*s.done))) {
      if (waited.passed() >= timeout_) return status::peer_lost;
      if (lane_.poll() == 0) std::this_thread::yield();
    }
  }
  s.waiting = answer == status::posted;
  return answer;
}

template <class Operation>
status bounded_lane::run(slot& s, rank peer, Operation operation) {
  const status started = post(s, operation);
  return accepted(started) ? finish(s, peer) : started;
}

template <class Operation>
status bounded_lane::run_burst(rank peer, std::uint64_t count, std::uint64_t window,
                               Operation operation) {
  if (burst_.size() < window) burst_.resize(window);
  status answer = status::done;
  // Operation i is awaited before its slot takes operation i + window.
  for (std::uint64_t i = 0; i < count + window && answer == status::done; ++i) {
    slot& s = burst_[i % window];
    answer = finish(s, peer);
    if (answer != status::done || i >= count) continue;
    const status started = post(s, [&](flag& f) { return operation(i, f); });
    if (!accepted(started)) answer = started;
  }
  if (answer != status::done) give_up(burst_);
  return answer;
}

}  // namespace heddle::linktest
