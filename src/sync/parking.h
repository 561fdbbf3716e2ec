// SPDX-License-Identifier: BSD-3-Clause
// parking.h - who looks after a lane that nobody drives, and who is to be woken when what he relies
// on goes away.
//
// News makes a lane's descriptors readable only while they are armed, and a poll disarms them. So
// each lane has one state, which says what they are armed for, and its executor says how deep it
// rests. docs/design/progress.md has the table of both; tests/model explores it in every mode.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace heddle::sync {

/// One lane's. Under the lane's hold, except for what any thread may call.
/// `Atomic` is std::atomic; tests/model puts in one that stops at each access.
template <template <class> class Atomic = std::atomic>
class parking {
 public:
  enum class state : std::uint8_t {
    disarmed,  ///< who drives the lane polls it, and the executor does so at every tick
    armed,     ///< threads of the program may sleep on the descriptors; the executor ticks
    covered,   ///< the executor rests as well, because such threads sleep on the descriptors
    watched,   ///< the executor sleeps on the descriptors itself, and such threads may do so too
  };
  /// What an executor finds that wants to rest.
  enum class readiness : std::uint8_t {
    work,     ///< there was something to do: do not rest
    watched,  ///< sleep on the descriptors
    covered,  ///< sleep, and do not watch the descriptors
    polled,   ///< the program has polled since the last look: come back at the next tick
  };
  /// Who relied on the descriptors until a moment ago, and has to be told.
  struct relying {
    bool sleepers = false, executor = false;
  };

  [[nodiscard]] state now() const noexcept { return state_; }
  [[nodiscard]] bool is_armed() const noexcept { return state_ != state::disarmed; }
  /// The executor rests without a tick until the descriptors tell, or those who sleep on them.
  [[nodiscard]] bool is_relied_on() const noexcept {
    return state_ == state::covered || state_ == state::watched;
  }
  /// A poll would take from threads of the program what they sleep on.
  [[nodiscard]] bool is_slept_on() const noexcept { return is_armed() && has_sleepers(); }

  /// `thread` polls for the program.
  void note_poll(const void* thread) noexcept { poller_ = thread; }
  /// The program leaves the lane to its executor, although it has polled a moment ago.
  void forget_polls() noexcept { poller_ = nullptr; }
  /// Behind that, the executor sleeps on the descriptors without being woken for it: where they are
  /// not armed it looks at the next tick in any case, so that `arm()` may miss what comes just now.
  /// covered: it is for the threads that sleep there. work: there is some, or not all that tells of
  /// it could be armed, and the executor has to be woken.
  template <class Arm>
  [[nodiscard]] readiness leave(Arm&& arm) noexcept {
    if (is_slept_on()) return readiness::covered;
    if (!is_armed() && !arm()) return readiness::work;
    state_ = state::watched;
    return readiness::watched;
  }
  /// The program has polled since the executor's last look.
  [[nodiscard]] bool is_polled() const noexcept { return poller_ != nullptr; }
  /// Another thread has polled since `me` last asked: it will go on, or `me` looks again soon.
  [[nodiscard]] bool polled_by_another(const void* me) noexcept {
    return std::exchange(poller_, me) != me;
  }

  /// The descriptors tell nothing from now on, because somebody polls or has to.
  [[nodiscard]] relying disarm() noexcept {
    const relying before{.sleepers = is_slept_on(), .executor = is_relied_on()};
    state_ = state::disarmed;
    return before;
  }
  /// A thread of the program goes to sleep on the descriptors, which were armed just now.
  void add_sleeper() noexcept {
    if (state_ == state::disarmed) state_ = state::armed;
    // Sequentially consistent, S1: with R2, one of executor and sleeper sees the other.
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
  }
  /// Any thread, without the hold. It sleeps no more: end the executor's rest after this.
  void remove_sleeper() noexcept { sleepers_.fetch_sub(1, std::memory_order_seq_cst); }  // S1

  /// The executor looks before it rests, having called executor_rest::begin(). `queued`: commands
  /// wait. `arm()` polls and then arms: whether there was nothing, and the descriptors tell now.
  template <class Arm>
  [[nodiscard]] readiness look(bool queued, Arm&& arm) noexcept {
    const bool polled = std::exchange(poller_, nullptr) != nullptr;
    if (is_armed()) state_ = state::armed;  // it does not rely on them as long as it is up
    if (queued) return readiness::work;
    if (polled) return readiness::polled;
    if (is_slept_on()) {
      state_ = state::covered;
      return readiness::covered;
    }
    if (!arm()) {
      state_ = state::disarmed;  // without sleepers nobody relied on them
      return readiness::work;
    }
    state_ = state::watched;
    return readiness::watched;
  }

 private:
  [[nodiscard]] bool has_sleepers() const noexcept {
    return sleepers_.load(std::memory_order_seq_cst) != 0;  // S2: see R1
  }

  state state_ = state::disarmed;
  const void* poller_ = nullptr;  // the thread that polled last; null: none since the last look
  Atomic<int> sleepers_{0};       // threads of the program asleep on the descriptors
};

/// Whether what a lane's descriptors tell ends its executor's rest. `watch(wanted)` makes it so;
/// false: the executor does not know the lane yet.
template <template <class> class Atomic = std::atomic>
class listening {
 public:
  /// Under the lane's hold, but not by the executor. As watch(true).
  template <class Watch>
  bool begin(Watch&& watch) noexcept {
    return set(true, false, watch);
  }
  /// By the executor, which holds the lane and is about to rest.
  template <class Watch>
  void decide(bool wanted, Watch&& watch) noexcept {
    (void)set(wanted, std::exchange(turned_away_, false), watch);
  }
  /// By the executor, without the hold, whose owner may be about to begin: the descriptors would
  /// end each rest at once until it lets go, which it cannot do while the executor has its core. So
  /// the executor does not believe afterwards what it has noted, and rests for a tick only.
  template <class Watch>
  void turn_away(Watch&& watch) noexcept {
    (void)watch(false);
    noted_.store(false, std::memory_order_release);  // R3 pairs with A3
    turned_away_ = true;
  }

 private:
  template <class Watch>
  bool set(bool wanted, bool anew, Watch&& watch) noexcept {
    // A3 pairs with R3: who finds that the executor has turned away watches after it.
    if (!anew && noted_.load(std::memory_order_acquire) == wanted) return true;
    if (!watch(wanted)) return false;
    noted_.store(wanted, std::memory_order_release);  // R3
    return true;
  }
  Atomic<bool> noted_{false};
  bool turned_away_ = false;  // the executor's
};

/// How deep an executor sleeps. What is sequentially consistent here makes one of two see the
/// other: the executor says that it rests (R1) and then looks at its lanes; who takes away what it
/// relies on, or leaves it something to do, does that and then looks whether it rests (R2).
template <template <class> class Atomic = std::atomic>
class executor_rest {
 public:
  // --- the executor ----------------------------------------------------------------------
  /// Before it looks at its lanes.
  void begin() noexcept {
    deep_.store(true, std::memory_order_seq_cst);   // R1
    short_.store(true, std::memory_order_seq_cst);  // R1
  }
  /// It sleeps until the next tick only, because the program polls some lane.
  void is_short() noexcept { deep_.store(false, std::memory_order_seq_cst); }
  void end() noexcept {
    deep_.store(false, std::memory_order_seq_cst);
    short_.store(false, std::memory_order_seq_cst);
  }

  // --- any thread ------------------------------------------------------------------------
  /// Somebody polls, or has taken away what the executor relies on: the rest becomes a short one.
  /// True for the one caller that has to set the tick.
  [[nodiscard]] bool shorten() noexcept { return take(deep_); }
  /// Ends any rest: there is something for the executor to do. True for who has to ring.
  [[nodiscard]] bool take() noexcept { return take(deep_) || take(short_); }

 private:
  /// The look first keeps the line shared while clear.
  static bool take(Atomic<bool>& flag) noexcept {
    return flag.load(std::memory_order_seq_cst) &&           // R2
           flag.exchange(false, std::memory_order_seq_cst);  // R2
  }
  Atomic<bool> deep_{false}, short_{false};
};

}  // namespace heddle::sync
