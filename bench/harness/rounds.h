// SPDX-License-Identifier: BSD-3-Clause
// rounds.h - the rounds of one benchmark between two ranks, whatever library moves the bytes: what
// a thread does in them as initiator and as target.
#pragma once
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "harness/pace.h"
#include "harness/partner.h"
#include "harness/spec.h"
#include "harness/statistics.h"

namespace heddle::bench {

/// What tells the time: the steady clock, or in a test one that only known costs move.
using time_source = std::chrono::steady_clock::time_point (*)();

/// Takes the time of single operations when asked to, else does nothing.
class stopwatch {
 public:
  stopwatch(std::vector<double>* seconds, time_source now) noexcept
      : seconds_(seconds), now_(now) {}
  void start() noexcept {
    if (seconds_ != nullptr) last_ = now_();
  }
  /// Ends one operation and begins the next.
  void lap() {
    if (seconds_ == nullptr) return;
    const std::chrono::steady_clock::time_point now = now_();
    seconds_->push_back(std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }

 private:
  std::vector<double>* seconds_;
  time_source now_;
  std::chrono::steady_clock::time_point last_;
};

/// What one thread is to do.
struct role {
  spec what;
  int thread = 0;
  bool crowded = false;  ///< more threads than cores: give the core away when spinning on memory
};

/// What one thread does at either end. Both sides make the same sequence of runs of the same
/// `count`. Functions throw std::runtime_error when an operation fails.
struct exchange {
  /// Initiator, timed: `count` operations and whatever shows that they are complete.
  std::function<void(std::uint64_t count, stopwatch& watch)> initiate;
  /// Initiator, after the time was taken: lets a passive target go on.
  std::function<void()> conclude = [] {};
  /// Target, before the initiator starts.
  std::function<void()> prepare = [] {};
  /// Target, meanwhile.
  std::function<void(std::uint64_t count)> respond;
};

/// What the leading rank learned in one round.
struct round_result {
  std::vector<double> figures;  ///< as metrics_of() says
  double p99 = 0;  ///< latency: of single operations of thread 0, in the same sense; 0: unknown
};

/// One rank's side. The initiator leads as many rounds as the target follows.
class rounds {
 public:
  /// `all`: one per thread. `other` must outlive this.
  rounds(partner& other, const spec& s, std::vector<exchange> all,
         time_source now = std::chrono::steady_clock::now)
      : other_(other), spec_(s), all_(std::move(all)), now_(now), pacer_(s) {}
  /// Initiator. Throws std::exception when the other rank is gone; an operation that fails ends
  /// this process, because other threads and the partner would wait for ever.
  round_result lead() {
    std::vector<double> stamps;
    pacer_.begin_round();
    while (const std::uint64_t count = pacer_.count())
      run(count, pacer_.stamped() ? &stamps : nullptr);
    tell(other_, std::uint64_t{0});
    round_result result{{figure(spec_, pacer_.result())}};
    if (!stamps.empty())
      result.p99 = figure(spec_, percentile(std::move(stamps), 0.99) * share_of_trip(spec_));
    return result;
  }
  /// Target.
  void follow() {
    while (const auto count = hear<std::uint64_t>(other_)) {
      std::barrier prepared(spec_.threads);
      on_threads(spec_.threads, [&](int t) {
        at(t).prepare();
        prepared.arrive_and_wait();
        if (t == 0) tell(other_, true);
        at(t).respond(count);
      });
    }
  }

 private:
  [[nodiscard]] const exchange& at(int thread) const {
    return all_[static_cast<std::size_t>(thread)];
  }
  void run(std::uint64_t count, std::vector<double>* stamps) {
    tell(other_, count);
    (void)hear<bool>(other_);  // its receives are posted
    std::vector<lap_times> laps(all_.size());
    std::barrier together(spec_.threads);
    on_threads(spec_.threads, [&](int t) {
      stopwatch watch(t == 0 ? stamps : nullptr, now_);
      lap_times& lap = laps[static_cast<std::size_t>(t)];
      together.arrive_and_wait();
      lap.start = now_();
      at(t).initiate(count, watch);
      lap.end = now_();
      at(t).conclude();
    });
    pacer_.end_run(elapsed(laps), seconds_per_op(spec_, laps, count));
  }

  partner& other_;
  const spec spec_;
  const std::vector<exchange> all_;
  const time_source now_;
  pacer pacer_;
};

}  // namespace heddle::bench
