// SPDX-License-Identifier: BSD-3-Clause
// beside_test.cpp - worlds of the same ranks beside each other do not meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/ranks.h"
#include "support/refusal.h"

namespace heddle {
namespace {

using heddle::test::refusal;
using heddle::test::run_ranks;
using heddle::test::settings_for;
using testing::AllOf;
using testing::HasSubstr;

/// By backend, and whether the launcher lets ranks meet after they have joined.
class Beside : public testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  static void run(int ranks, const std::function<void(world&)>& body) {
    run_ranks(ranks, settings_for(std::get<0>(GetParam())), body, std::get<1>(GetParam()));
  }
  /// Two worlds in mode inline.
  static void run_inline(int ranks, const std::function<void(world&, world&)>& body) {
    settings config = settings_for(std::get<0>(GetParam()));
    config.progress = "inline";
    const world_options same{.progress = progress_mode::inline_only,
                             .settings = {{"HEDDLE_BACKENDS", config.backends}}};
    const auto with_second = [&](world& first) {
      world second(first, same);
      body(first, second);
      second.barrier();
    };
    run_ranks(ranks, config, with_second, std::get<1>(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(Wires, Beside,
                         testing::Combine(testing::Values("shm", "tcp"), testing::Bool()),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param)) +
                                  (std::get<1>(p.param) ? "" : "_over_lanes");
                         });

/// Needs both ranks before it is sent.
constexpr std::size_t large = 8 << 20;

std::span<std::byte> bytes_of(int& number) {
  return std::as_writable_bytes(std::span(&number, 1));
}

TEST_P(Beside, MessagesOfOneWorldAreNotReceivedInTheOther) {
  run(3, [](world& first) {
    world second(first);
    ASSERT_EQ(second.rank(), first.rank());
    ASSERT_EQ(second.size(), first.size());
    lane a(first), b(second);  // of the same number
    const rank to = (first.rank() + 1) % first.size();
    const rank from = (first.rank() + first.size() - 1) % first.size();
    int in_first = 1, in_second = 2, got_a = 0, got_b = 0;
    EXPECT_EQ(b.send(to, 7, bytes_of(in_second)), status::done);  // small: waits for no receive
    EXPECT_EQ(a.send(to, 7, bytes_of(in_first)), status::done);
    EXPECT_EQ(a.recv(from, 7, bytes_of(got_a)).code, status::done);
    EXPECT_EQ(b.recv(from, 7, bytes_of(got_b)).code, status::done);
    EXPECT_EQ(got_a, 1);
    EXPECT_EQ(got_b, 2);
    second.barrier();
  });
}

TEST_P(Beside, HandlersOfOneIdAreEachWorldsOwn) {
  run(2, [](world& first) {
    world second(first);
    std::atomic<int> by_first = 0, by_second = 0;  // by whatever thread delivers
    const call_handler count = [](void* c, lane&, const call_message&) noexcept {
      ++*static_cast<std::atomic<int>*>(c);
    };
    first.set_handler(3, count, &by_first);
    second.set_handler(3, count, &by_second);
    first.barrier();
    lane a(first), b(second);
    const rank peer = 1 - first.rank();
    EXPECT_EQ(a.call(peer, 3, {}, {}), status::done);
    EXPECT_EQ(b.call(peer, 3, {}, {}), status::done);
    EXPECT_EQ(b.call(peer, 3, {}, {}), status::done);
    while (by_first < 1 || by_second < 2) a.poll(), b.poll();
    second.barrier();
    EXPECT_EQ(by_first, 1);
    EXPECT_EQ(by_second, 2);
    first.barrier();
  });
}

TEST_P(Beside, ArraysHaveTheSameNumbersAndOtherMemory) {
  run(2, [](world& first) {
    world second(first);
    auto one = first.symmetric<int>(1);
    auto two = second.symmetric<int>(1);
    lane a(first), b(second);
    const rank peer = 1 - first.rank();
    const int first_value = 10, second_value = 20;
    EXPECT_EQ(a.put(first_value, one.at(peer)), status::done);
    EXPECT_EQ(b.put(second_value, two.at(peer)), status::done);
    EXPECT_EQ(a.flush(), status::done);
    EXPECT_EQ(b.flush(), status::done);
    first.barrier();
    second.barrier();
    EXPECT_EQ(one.local()[0], 10);
    EXPECT_EQ(two.local()[0], 20);
    first.barrier();
  });
}

TEST_P(Beside, AWorldOutlivesTheOneThatItWasMadeOver) {
  run(2, [](world& launched) {
    std::optional<world> first(std::in_place, launched);
    world second(*first);
    world third(second);
    launched.barrier();  // one that ends may be missed
    first.reset();
    lane l(third);
    int sent = third.rank(), got = -1;
    const rank peer = 1 - third.rank();
    EXPECT_EQ(l.send(peer, 1, bytes_of(sent)), status::done);
    EXPECT_EQ(l.recv(peer, 1, bytes_of(got)).code, status::done);
    EXPECT_EQ(got, peer);
    second.barrier();
    third.barrier();
  });
}

TEST_P(Beside, AnyNumberOfRanksMeetForIt) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    run(ranks, [ranks](world& first) {
      world second(first);
      EXPECT_EQ(second.size(), ranks);
      for (rank r = 0; r < ranks; ++r) EXPECT_EQ(second.host_number(r), first.host_number(r));
      second.barrier();
    });
  }
}

TEST_P(Beside, RanksThatAreAtAnotherCallAreNamedAndMakeTheWorldAfterwards) {
  run(3, [](world& first) {
    const std::string said = refusal([&] {
      if (first.rank() == 1)
        (void)first.symmetric<int>(1);
      else
        world refused(first);
    });
    if (first.rank() == 1)
      EXPECT_THAT(said, AllOf(HasSubstr("symmetric memory"), HasSubstr("on rank")));
    else
      EXPECT_THAT(said, HasSubstr("join beside another world: rank 1 makes another call"));
    first.barrier();
    world second(first);
    second.barrier();
  });
}

// Rank 0 needs rank 1 in the first world, which waits in the second for rank 0, and so on.
TEST_P(Beside, InModeInlineWhoWaitsInOneWorldMovesTheOthers) {
  run_inline(2, [](world& first, world& second) {
    lane a(first), b(second);
    const rank peer = 1 - first.rank();
    lane& sends = first.rank() == 0 ? b : a;
    lane& receives = first.rank() == 0 ? a : b;
    const std::vector<std::byte> data(large, std::byte{7});
    std::vector<std::byte> into(large);
    flag sent;
    ASSERT_EQ(sends.try_send(peer, 1, data, sent), status::posted);
    EXPECT_EQ(receives.recv(peer, 1, into).code, status::done);
    EXPECT_EQ(sends.wait(sent), status::done);
    EXPECT_EQ(into, data);
  });
}

TEST_P(Beside, InModeInlineWhoIsAtABarrierOfOneWorldMovesTheOthers) {
  run_inline(2, [](world& first, world& second) {
    lane b(second);
    std::vector<std::byte> data(large, std::byte{7});
    flag sent;
    if (first.rank() == 0) {
      ASSERT_EQ(b.try_send(1, 1, data, sent), status::posted);
    } else {
      EXPECT_EQ(b.recv(0, 1, data).code, status::done);
    }
    first.barrier();
    if (first.rank() == 0) {
      EXPECT_EQ(b.wait(sent), status::done);
    }
  });
}

TEST(BesideOverLanes, ThoseThatMakeAWorldAndThoseAtABarrierAreRefused) {
  const auto body = [](world& first) {
    const std::string said = refusal([&] {
      if (first.rank() == 0)
        world refused(first);
      else
        first.barrier();
    });
    EXPECT_THAT(said, HasSubstr("makes another call"));
    world second(first);
    second.barrier();
  };
  run_ranks(4, settings_for("shm"), body, false);
}

/// What a launcher hears of a job of one.
struct heard_of_job {
  int status = 0;
  bool left = false;
};

class heard_session final : public bootstrap::session {
 public:
  explicit heard_session(heard_of_job& heard) : heard_(heard) {}
  ~heard_session() override { heard_.left = true; }
  [[nodiscard]] const bootstrap::job& info() const noexcept override { return job_; }
  bootstrap::gathered exchange(std::span<const std::byte> mine) override {
    const bootstrap::blob one(mine.begin(), mine.end());
    return bootstrap::gathered({&one, 1});
  }
  void barrier() override {}
  void abort(int status, std::string_view) noexcept override { heard_.status = status; }

 private:
  heard_of_job& heard_;
  const bootstrap::job job_;
};

TEST(BesideAlone, AWorldThatOutlivesTheOneItIsOverCanStillEndTheJob) {
  heard_of_job heard;
  {
    std::optional<world> first(
        std::in_place,
        engine::make_world(std::make_unique<heard_session>(heard), settings_for("shm")));
    std::optional<world> second(std::in_place, *first);
    world third(*second);
    first.reset();
    second.reset();
    EXPECT_FALSE(heard.left);
    third.core().abort(42, "no input");
    EXPECT_EQ(heard.status, 42);
  }
  EXPECT_TRUE(heard.left);
}

TEST(BesideAlone, AWorldJoinsOverOneThatHasOutlivedTheFirst) {
  std::optional<world> first(std::in_place);
  world second(*first);
  first.reset();
  const auto shares = [&] { return second.core().weak_from_this().use_count(); };
  const auto before = shares();
  world third;
  EXPECT_GT(shares(), before) << "the process is in the job already";
}

TEST(BesideAlone, TheSecondWorldOfAProcessJoinsOverTheFirst) {
  world first;
  world second;
  EXPECT_EQ(second.size(), 1);
  lane a(first, {.number = 5}), b(second, {.number = 5});
  int sent = 4, got = 0;
  EXPECT_EQ(b.send(0, 1, bytes_of(sent)), status::done);
  outcome found;
  EXPECT_EQ(a.try_probe(0, 1, found), status::not_found) << "it is the other world's";
  EXPECT_EQ(b.recv(0, 1, bytes_of(got)).code, status::done);
  EXPECT_EQ(got, 4);
}

TEST(SettingsByProgram, AreUsedAndTheEnvironmentWins) {
  {
    const world w({.settings = {{"HEDDLE_RECORDS", "512"}}});
    EXPECT_THAT(w.describe(), AllOf(HasSubstr("512 operations in flight per lane"),
                                    HasSubstr("HEDDLE_RECORDS 512 (program)")));
  }
  setenv("HEDDLE_RECORDS", "256", 1);
  {
    const world w({.settings = {{"HEDDLE_RECORDS", "512"}}});
    EXPECT_THAT(w.describe(), AllOf(HasSubstr("256 operations in flight per lane"),
                                    HasSubstr("HEDDLE_RECORDS 256 (environment)")));
  }
  unsetenv("HEDDLE_RECORDS");
}

TEST(SettingsByProgram, AreRefusedWhereTheyAreNone) {
  EXPECT_THAT(refusal([] {
                world w({.settings = {{"HEDDLE_RECORD", "512"}}});
              }),
              AllOf(HasSubstr("HEDDLE_RECORD"), HasSubstr("did you mean HEDDLE_RECORDS")));
  EXPECT_THAT(refusal([] {
                world w({.settings = {{"HEDDLE_RECORDS", "many"}}});
              }),
              HasSubstr("HEDDLE_RECORDS"));
}

}  // namespace
}  // namespace heddle
