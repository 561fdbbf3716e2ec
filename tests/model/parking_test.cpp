// SPDX-License-Identifier: BSD-3-Clause
// parking_test.cpp - who sleeps on a lane's descriptors and who looks, in every progress mode,
// under every schedule of a few threads: no news may find all of them asleep. Invariant I2 of
// docs/design/invariants.md.
#include "sync/parking.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/explorer.h"
#include "sync/combining_queue.h"

namespace heddle::model {
namespace {

using parking = sync::parking<model::atomic>;
using readiness = parking::readiness;

/// A sleep that may have a time limit. Time passes when no thread can do anything else, so that a
/// limit is never what finds the news that nobody was told of.
class sleepers {
 public:
  explicit sleepers(std::size_t threads) : of_(threads) {}
  void sleep(std::size_t me, const std::function<bool()>& limited,
             const std::function<bool()>& told) {
    of_[me] = {told, false};
    wait_until([=, this] { return told() || (limited() && all_wait(me)); });
    of_[me].told = nullptr;
  }
  void sleep(std::size_t me, bool limited, const std::function<bool()>& told) {
    sleep(
        me, [limited] { return limited; }, told);
  }
  void end(std::size_t me) { of_[me].ended = true; }

 private:
  struct thread {
    std::function<bool()> told;  // none: it is awake
    bool ended = false;
  };
  [[nodiscard]] bool all_wait(std::size_t except) const {
    for (std::size_t i = 0; i < of_.size(); ++i)
      if (i != except && !of_[i].ended && (!of_[i].told || of_[i].told())) return false;
    return true;
  }
  std::vector<thread> of_;
};

/// An endpoint as transport/endpoint.h promises it: each call is one step.
struct wire {
  int news = 0;
  bool armed = false, readable = false, unsent = false;
  bool watched = false;  ///< the executor sleeps on it

  void bring() {
    step();
    ++news;
    readable = armed;
  }
  int poll() {
    step();
    armed = readable = unsent = false;
    return std::exchange(news, 0);
  }
  bool arm() {
    step();
    return armed = news == 0 && !unsent;
  }
  bool watch(bool wanted) {
    step();
    watched = wanted;
    return true;
  }
  /// At its worst: it misses whatever comes.
  bool arm_loosely() {
    step();
    return news == 0 && !unsent;
  }
};

enum class mode { adaptive, only_inline, idle, dedicated };

/// A lane and its executor, reduced to who sleeps and who looks. Their backstops are left out.
struct parked_lane {
  parked_lane(mode in, std::size_t threads) : how(in), asleep(threads) {}

  const mode how;
  sleepers asleep;
  sync::combining_queue<std::uint64_t, model::atomic> commands{4};
  parking park;
  sync::executor_rest<model::atomic> rest;
  sync::listening<model::atomic> listening;
  wire endpoint;
  atomic<bool> lane_bell{false}, executor_bell{false}, tick{false}, stop{false};
  atomic<int> delivered{0}, executed{0};
  bool gave_up = false;  // a thread of the program will not come back
  bool has_posted = false;
  bool watches = false;  // the executor rests, and relies on what the descriptors tell
  int working = 0, inside = 0, handing_in = 0;

  // --- the lane ----------------------------------------------------------------------------
  /// Returns whether the executor relied on the descriptors.
  bool fall_silent() {
    const auto before = park.disarm();
    if (how == mode::only_inline && before.sleepers) set(lane_bell);
    return before.executor;
  }
  void disarm() {
    if (park.is_armed() && fall_silent()) look_soon();
  }
  int advance() {
    disarm();
    return endpoint.poll();
  }
  bool enter() {
    if (!commands.try_hold()) return false;
    ++inside;
    return true;
  }
  void drain() {
    (void)commands.drain(100, [this](std::uint64_t) {
      step();
      executed.fetch_add(1, std::memory_order_seq_cst);
    });
  }
  void release(int found) {
    do {
      drain();
      if (park.is_armed() && endpoint.unsent && fall_silent()) wake();
    } while (!commands.release());
    --inside;
    delivered.fetch_add(found, std::memory_order_seq_cst);
  }
  void poll(const void* me) {
    if (!enter()) return;
    park.note_poll(me);
    release(advance());
  }
  void progress(const void* me) {
    if (!enter()) return;
    if (!park.is_slept_on()) park.note_poll(me);
    take_turn();
  }
  void take_turn() { release(park.is_slept_on() ? 0 : advance()); }
  /// Something that leaves by a poll.
  void post() {
    wait_until([this] { return inside == 0; });
    if (!enter()) return post();
    endpoint.unsent = has_posted = true;
    release(0);
  }
  void leave_to_executor() {
    wait_until([this] { return inside == 0; });
    if (!enter()) return leave_to_executor();
    park.forget_polls();
    const auto found = park.leave([this] { return endpoint.arm_loosely(); });
    if (found == readiness::work) wake();
    if (found == readiness::watched) (void)listening.begin(watching());
    release(0);
  }
  bool prepare_wait(const void* me) {
    if (!enter()) return false;
    bool parked = false;
    int found = 0;
    if (how != mode::only_inline || !park.polled_by_another(me)) {
      for (int looks = 0; looks < 2 && found == 0 && !parked; ++looks) {
        found = endpoint.poll();
        parked = found == 0 && endpoint.arm();
      }
      if (parked) {
        lane_bell.store(false, std::memory_order_seq_cst);
        park.add_sleeper();
      } else {
        disarm();
      }
    }
    release(found);
    return parked;
  }
  /// Sleeps until `target` pieces of news were delivered.
  void wait(std::size_t me, int target) {
    const auto done = [=, this] { return delivered.peek() >= target; };
    for (;;) {
      poll(&asleep + me);
      step();
      if (done()) return;
      const bool driving = prepare_wait(&asleep + me);
      asleep.sleep(me, !driving, [=, this] {
        return done() || (driving && (endpoint.readable || lane_bell.peek()));
      });
      if (!driving) continue;
      park.remove_sleeper();
      look_soon();
    }
  }

  std::function<bool(bool)> watching() {
    return [this](bool wanted) { return endpoint.watch(wanted); };
  }

  // --- executor ----------------------------------------------------------------------------
  static void set(atomic<bool>& bell) { bell.store(true, std::memory_order_seq_cst); }
  void look_soon() {
    if (!rest.shorten()) return;
    how == mode::dedicated ? set(executor_bell) : set(tick);
  }
  void wake() {
    if (rest.take()) set(executor_bell);
  }
  void run(std::size_t me) {
    while (!stop.load(std::memory_order_seq_cst)) {
      if (enter()) take_turn();
      sleep(me);
    }
  }
  void sleep(std::size_t me) {
    rest.begin();
    auto found = readiness::polled;
    if (enter()) {
      int news = 0;
      found = park.look(commands.pending(), [&] {
        news = endpoint.poll();
        return news == 0 && endpoint.arm();
      });
      if (found != readiness::work) listening.decide(found == readiness::watched, watching());
      release(news);
    } else {
      listening.turn_away(watching());
    }
    if (found == readiness::work || stop.load(std::memory_order_seq_cst)) return rest.end();
    rest_until_told(me, found);
  }
  void rest_until_told(std::size_t me, readiness found) {
    if (found == readiness::polled) rest.is_short();
    watches = found == readiness::watched;
    asleep.sleep(
        me, [=, this] { return found == readiness::polled || tick.peek(); },
        [this] { return executor_bell.peek() || (endpoint.watched && endpoint.readable); });
    watches = false;
    rest.end();
    tick.store(false, std::memory_order_seq_cst);
    executor_bell.store(false, std::memory_order_seq_cst);
  }
  /// In mode dedicated: it lets go only to rest.
  void serve(std::size_t me) {
    bool holds = commands.try_hold();
    while (!stop.load(std::memory_order_seq_cst)) {
      if (!holds && !(holds = commands.try_hold())) continue;
      drain();
      delivered.fetch_add(advance(), std::memory_order_seq_cst);
      rest.begin();
      int news = 0;
      const auto found = park.look(commands.pending(), [&] {
        news = endpoint.poll();
        return news == 0 && endpoint.arm();
      });
      delivered.fetch_add(news, std::memory_order_seq_cst);
      if (found != readiness::work) listening.decide(found == readiness::watched, watching());
      if (found != readiness::watched || !commands.release_empty()) {
        (void)park.disarm();
        rest.end();
        wait_until([this] { return handing_in == 0; });
        continue;
      }
      holds = false;
      rest_until_told(me, found);
    }
  }
  void hand_in() {
    ++handing_in;
    const auto left = commands.hand_in(1);
    --handing_in;
    if (left == decltype(commands)::left::unattended) wake();
  }
};

using part = std::function<void(parked_lane&, std::size_t me)>;

/// The program's threads and the peer are done: the executor may go.
void finish(parked_lane& l, std::size_t me) {
  l.asleep.end(me);
  if (--l.working != 0) return;
  parked_lane::set(l.stop);
  parked_lane::set(l.executor_bell);
}

explored explore_parking(mode how, int preemptions, const std::vector<part>& parts) {
  std::shared_ptr<parked_lane> tested;
  const auto make = [&] {
    tested = std::make_shared<parked_lane>(how, parts.size() + (how == mode::only_inline ? 0 : 1));
    tested->working = static_cast<int>(parts.size());
    std::vector<thread_body> bodies;
    for (std::size_t i = 0; i < parts.size(); ++i)
      bodies.emplace_back([&, i, l = tested] {
        parts[i](*l, i);
        finish(*l, i);
      });
    if (how != mode::only_inline)
      bodies.emplace_back([how, n = parts.size(), l = tested] {
        how == mode::dedicated ? l->serve(n) : l->run(n);
      });
    return bodies;
  };
  const explored e = explore(preemptions, make, [] { return std::string(); });
  std::printf("%llu schedules\n", static_cast<unsigned long long>(e.schedules));
  return e;
}

/// The peer, and a thread of the program that only looks at its memory until the news is there.
part brings(int news) {
  return [=](parked_lane& l, std::size_t me) {
    for (int i = 0; i < news; ++i) l.endpoint.bring();
    l.asleep.sleep(me, false, [&l, news] { return l.delivered.peek() >= news; });
  };
}
const part polls_once = [](parked_lane& l, std::size_t) { l.poll(&l); };
const part lends_a_hand = [](parked_lane& l, std::size_t) { l.progress(&l); };
const part waits = [](parked_lane& l, std::size_t me) { l.wait(me, 1); };
/// Polls when the executor rests because others sleep on the descriptors.
const part polls_what_is_covered = [](parked_lane& l, std::size_t me) {
  l.asleep.sleep(me, false,
                 [&l] { return l.park.now() == parking::state::covered || l.stop.peek(); });
  l.poll(&l);
  l.gave_up = true;
};
/// A wait with a deadline, after which the program does not come back.
const part gives_up = [](parked_lane& l, std::size_t me) {
  if (l.prepare_wait(&l)) {
    l.asleep.sleep(me, true, [] { return false; });
    l.park.remove_sleeper();
    l.look_soon();
  }
  l.gave_up = true;
};
const part brings_then = [](parked_lane& l, std::size_t me) {
  l.asleep.sleep(me, false, [&l] { return l.gave_up; });
  brings(1)(l, me);
};
const part brings_when_watched = [](parked_lane& l, std::size_t me) {
  l.asleep.sleep(me, false, [&l] { return l.watches; });
  brings(1)(l, me);
};
const part posts = [](parked_lane& l, std::size_t me) {
  l.post();
  l.asleep.sleep(me, false, [&l] { return !l.endpoint.unsent; });
};
/// A peer that answers what was posted.
const part answers = [](parked_lane& l, std::size_t me) {
  l.asleep.sleep(me, false, [&l] { return l.has_posted && !l.endpoint.unsent; });
  brings(1)(l, me);
};
const part leaves_a_transfer = [](parked_lane& l, std::size_t) { l.leave_to_executor(); };
const part hands_in = [](parked_lane& l, std::size_t me) {
  l.hand_in();
  l.asleep.sleep(me, false, [&l] { return l.executed.peek() == 1; });
};

TEST(ParkingModel, I2NewsReachesAnExecutorWhoseLaneTheProgramPolled) {
  EXPECT_EQ(explore_parking(mode::adaptive, 2, {brings(1), polls_once}).failure, "");
}

TEST(ParkingModel, I2NewsReachesAnExecutorWhoseLaneAHelperOrTheIdleHookPolled) {
  EXPECT_EQ(explore_parking(mode::idle, 2, {brings(1), lends_a_hand}).failure, "");
}

TEST(ParkingModel, I2NewsReachesAThreadThatSleepsBesideAnExecutor) {
  EXPECT_EQ(explore_parking(mode::adaptive, 2, {brings(1), waits}).failure, "");
}

TEST(ParkingModel, I2NewsReachesAThreadThatSleepsWhileAnotherPolls) {
  EXPECT_EQ(explore_parking(mode::adaptive, 1, {brings(1), waits, polls_once}).failure, "");
}

TEST(ParkingModel, I2NewsReachesSleepersAndTheExecutorThatRestsBecauseOfThemThoughAThirdPolls) {
  EXPECT_EQ(explore_parking(mode::adaptive, 1, {waits, polls_what_is_covered, brings_then}).failure,
            "");
}

TEST(ParkingModel, I2NewsReachesAnExecutorThatRestedBecauseOfAThreadThatGaveUp) {
  EXPECT_EQ(explore_parking(mode::adaptive, 2, {gives_up, brings_then}).failure, "");
}

TEST(ParkingModel, I2WhatLeavesByAPollLeavesAlthoughEverybodyRests) {
  EXPECT_EQ(explore_parking(mode::adaptive, 2, {posts, polls_once}).failure, "");
  EXPECT_EQ(explore_parking(mode::adaptive, 1, {posts, brings(1), waits}).failure, "");
}

TEST(ParkingModel, I2WhatAnotherPostsLeavesAlthoughAThreadSleepsThatAwaitsItsAnswer) {
  EXPECT_EQ(explore_parking(mode::adaptive, 1, {posts, waits, answers}).failure, "");
}

TEST(ParkingModel, I2AnExecutorToWhomATransferIsLeftLooksAtItsLane) {
  EXPECT_EQ(explore_parking(mode::adaptive, 1, {brings(1), polls_once, leaves_a_transfer}).failure,
            "");
  EXPECT_EQ(explore_parking(mode::adaptive, 2, {brings(1), leaves_a_transfer}).failure, "");
}

TEST(ParkingModel, I2NewsReachesSleepersOrTheExecutorOfALaneThatIsLeftToItMeanwhile) {
  EXPECT_EQ(explore_parking(mode::adaptive, 1, {brings(1), waits, leaves_a_transfer}).failure, "");
  EXPECT_EQ(explore_parking(mode::adaptive, 1, {gives_up, brings_then, leaves_a_transfer}).failure,
            "");
}

TEST(ParkingModel, I2NewsReachesAnExecutorThatTurnedAwayFromALaneThatWasJustBeingLeftToIt) {
  EXPECT_EQ(explore_parking(mode::adaptive, 2, {leaves_a_transfer, brings_when_watched}).failure,
            "");
}

TEST(ParkingModel, I2InModeInlineThreadsAsleepTakeOverFromOneThatPolledAndLeft) {
  EXPECT_EQ(explore_parking(mode::only_inline, 2, {brings(1), waits, polls_once}).failure, "");
  EXPECT_EQ(explore_parking(mode::only_inline, 2, {brings(1), waits, lends_a_hand}).failure, "");
}

TEST(ParkingModel, I2InModeInlineTwoThreadsSleepOnOneLane) {
  EXPECT_EQ(explore_parking(mode::only_inline, 2, {brings(1), waits, waits}).failure, "");
}

TEST(ParkingModel, I2NewsAndCommandsReachADedicatedExecutor) {
  EXPECT_EQ(explore_parking(mode::dedicated, 2, {brings(1), hands_in}).failure, "");
}

}  // namespace
}  // namespace heddle::model
