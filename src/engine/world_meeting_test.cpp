// SPDX-License-Identifier: BSD-3-Clause
// world_meeting_test.cpp - barriers and symmetric memory where the launcher helps with the start
// only.
#include "engine/world_meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "engine/meeting_wire.h"
#include "support/engine_ways.h"
#include "support/refusal.h"

namespace heddle::test {
namespace {

using testing::HasSubstr;

void run_alone(int size, const settings& config, const std::function<void(world&)>& body) {
  run_ranks(size, config, body, false);
}

class WorldMeeting : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, WorldMeeting, all_ways(), name_of_way);

TEST_P(WorldMeeting, NobodyLeavesABarrierBeforeAllHaveCome) {
  for (const int size : {1, 2, 3, 5}) {
    std::atomic<int> came = 0;
    run_alone(size, config(), [&](world& w) {
      for (int round = 1; round <= 20; ++round) {
        ++came;
        w.barrier();
        EXPECT_GE(came, round * size);
        w.barrier();
      }
    });
  }
}

TEST_P(WorldMeeting, SymmetricMemoryIsThereOnAllRanksOnReturn) {
  run_alone(3, config(), [](world& w) {
    const auto words = w.symmetric<std::uint64_t>(3);
    lane l(w);
    const auto next = (w.rank() + 1) % w.size();
    const auto self = static_cast<std::uint64_t>(w.rank());
    EXPECT_EQ(l.put(std::as_bytes(std::span(&self, 1)), words.at(next).address), status::done);
    EXPECT_EQ(l.flush(), status::done);
    w.barrier();
    EXPECT_EQ(words.local()[0], static_cast<std::uint64_t>((w.rank() + w.size() - 1) % w.size()));
    w.barrier();
  });
}

TEST_P(WorldMeeting, ItTakesTurnsWithTheProgramsOwnCollectivesOnLaneZero) {
  run_alone(2, config(), [](world& w) {
    lane l(w, {.number = 0});
    std::thread other([&] {
      for (int i = 0; i < 50; ++i) w.barrier();
    });
    for (int i = 0; i < 50; ++i) EXPECT_EQ(barrier(l), status::done);
    other.join();
  });
}

settings shm() {
  return settings_for("shm");
}

TEST(WorldMeetingOnLanes, ASizeThatDiffersOnOneRankIsRefusedOnAll) {
  run_alone(4, shm(), [](world& w) {
    const std::size_t items = w.rank() == 2 ? 8 : 9;
    const char* whose = w.rank() == 2 ? "on rank 0" : "on rank 2";
    EXPECT_THAT(refusal([&] { (void)w.symmetric<std::uint64_t>(items); }),
                testing::AnyOf(HasSubstr(whose), HasSubstr("on rank 1"), HasSubstr("on rank 3")));
  });
}

TEST(WorldMeetingOnLanes, RightsThatDifferAreRefusedToo) {
  run_alone(2, shm(), [](world& w) {
    const rights allowed = w.rank() == 0 ? rights::read : rights::all;
    EXPECT_THAT(refusal([&] { (void)w.symmetric<std::uint64_t>(1, allowed); }),
                HasSubstr("other rights on rank " + std::to_string(1 - w.rank())));
  });
}

TEST(WorldMeetingOnLanes, AnotherThreadMayMeetWhileOneHasLaneZeroToItself) {
  run_alone(2, shm(), [](world& w) {
    lane mine(w, {.number = 0, .exclusive = true});
    std::thread other([&] {
      for (int i = 0; i < 100; ++i) w.barrier();
    });
    std::uint64_t out = 1, in = 0;
    for (int i = 0; i < 100; ++i) {
      flag got;
      ASSERT_EQ(mine.try_recv(1 - w.rank(), 1, std::as_writable_bytes(std::span(&in, 1)), got),
                status::posted);
      ASSERT_EQ(mine.send(1 - w.rank(), 1, std::as_bytes(std::span(&out, 1))), status::done);
      ASSERT_EQ(mine.wait(got), status::done);
    }
    other.join();
  });
}

TEST(WorldMeetingOnLanes, ChecksForMisuseDoNotTakeItForTheProgram) {
  settings checked = shm();
  checked.checks = "on";
  run_alone(2, checked, [](world& w) { w.barrier(); });
}

/// What three ranks get to hear that do `meet` when rank 2 has gone.
void meet_without_rank_2(const std::function<void(world&)>& meet, const std::string& said) {
  for (const char* backend : {"shm", "tcp"}) {
    settings s = settings_for(backend);
    s.peer_timeout_ms = 2000;
    auto sessions = bootstrap::local_group(4, false);
    std::vector<std::thread> ranks;
    for (auto& session : sessions)
      ranks.emplace_back([&, mine = std::move(session)]() mutable {
        world w(engine::make_world(std::move(mine), s));
        w.barrier();
        if (w.rank() == 2) return;
        EXPECT_THAT(refusal([&] { meet(w); }), HasSubstr(said));
      });
    for (auto& t : ranks) t.join();
  }
}

TEST(WorldMeetingOnLanes, ARankThatHasGoneIsNamedByAllOthers) {
  meet_without_rank_2([](world& w) { w.barrier(); }, "barrier: rank 2 is gone");
}

TEST(WorldMeetingOnLanes, ARankThatHasGoneIsNamedByThoseThatMakeAnotherWorld) {
  meet_without_rank_2([](world& w) { world another(w); },
                      "join beside another world: rank 2 is gone");
}

/// With whom a rank trades in a round of the first meeting.
struct round_of {
  rank to, from;
  std::uint64_t number;
};

void say(lane& l, const round_of& r, std::span<const std::byte> what) {
  const tag t = engine::meeting_wire::tag_bits | r.number;
  std::array<std::byte, 16384> told;
  flag sent, got;
  ASSERT_EQ(l.try_recv_collective(r.from, t, told, got), status::posted);
  const status s = l.try_send_collective(r.to, t, what, sent);
  if (s == status::posted)
    EXPECT_EQ(l.wait(sent), status::done);
  else
    EXPECT_EQ(s, status::done);
  EXPECT_EQ(l.wait(got), status::done);
}

/// In a gathering of four, the last of which says this in every round, all others name it.
void expect_named_by_all(std::span<const std::byte> head, std::span<const std::byte> body) {
  run_alone(4, shm(), [&](world& w) {
    if (w.rank() == 3) {
      lane l(w, {.number = 0});
      say(l, {2, 0, 0}, head);
      say(l, {2, 0, 1}, body);
      say(l, {1, 1, 2}, head);
      say(l, {1, 1, 3}, body);
      return;
    }
    engine::world_meeting meeting;
    EXPECT_THAT(refusal([&] { (void)meeting.gather(w.core().lanes().zero(), {}); }),
                HasSubstr("rank 3 has sent what no rank sends"));
  });
}

void expect_named_by_all(const engine::meeting_wire::gather_head& head,
                         std::span<const std::byte> body = {}) {
  expect_named_by_all(std::as_bytes(std::span(&head, 1)), body);
}

TEST(WorldMeetingBelievesNobody, WhoAnnouncesMoreThanRanksGive) {
  expect_named_by_all({.bytes = UINT64_MAX});
  expect_named_by_all({.bytes = 8201});
}

TEST(WorldMeetingBelievesNobody, WhosePartIsLongerThanWhatCame) {
  const std::uint32_t length = UINT32_MAX;
  expect_named_by_all({.bytes = sizeof length}, std::as_bytes(std::span(&length, 1)));
}

TEST(WorldMeetingBelievesNobody, WhoGivesFewerPartsThanItHas) {
  expect_named_by_all({.bytes = 0});
}

TEST(WorldMeetingBelievesNobody, WhoGivesMorePartsThanItHas) {
  const std::array<std::uint32_t, 3> empty{};
  expect_named_by_all({.bytes = sizeof empty}, std::as_bytes(std::span(empty)));
}

TEST(WorldMeetingBelievesNobody, WhoHasLostARankThatThereIsNot) {
  expect_named_by_all({.failed = {.of = 12345}});
  expect_named_by_all({.failed = {.of = -2}});
}

TEST(WorldMeetingBelievesNobody, WhoSendsNoHead) {
  expect_named_by_all(std::array<std::byte, 3>{}, {});
}

TEST(WorldMeetingBelievesNobody, WhoKnowsOfTheClaimsOfARankThatThereIsNot) {
  run_alone(2, shm(), [&](world& w) {
    if (w.rank() == 1) {
      std::array<std::byte, 48> said;
      said.fill(std::byte{0xff});
      lane l(w, {.number = 0});
      return say(l, {0, 0, 0}, said);
    }
    engine::world_meeting meeting;
    EXPECT_THAT(refusal([&] { (void)meeting.meet(w.core().lanes().zero(), {}); }),
                HasSubstr("rank 1 has sent what no rank sends"));
  });
}

}  // namespace
}  // namespace heddle::test
