// SPDX-License-Identifier: BSD-3-Clause
// symmetric_test.cpp - memory that all ranks expose together, and peers' memory that is mapped
// here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "support/engine_ways.h"
#include "support/refusal.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using words = std::vector<std::uint64_t>;

/// Rank r has r words, 100 * r and up: rank 0 has none.
words words_of(rank r) {
  words mine(static_cast<std::size_t>(r));
  std::iota(mine.begin(), mine.end(), 100 * static_cast<std::uint64_t>(r));
  return mine;
}

std::uint64_t load(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}
void store(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

// --- memory that is there already --------------------------------------------------------

class ExposedSymmetric : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, ExposedSymmetric, all_ways(), name_of_way);

TEST_P(ExposedSymmetric, KeepsWhatIsInEachRanksMemoryOfAnySizeAndLetsAllReachIt) {
  for (const bool launcher_stays : {true, false})
    run_ranks(
        4, config(),
        [](world& w) {
          lane l(w);
          words own = words_of(w.rank());
          const auto array = w.expose_symmetric(std::span(own));
          EXPECT_EQ(array.local().data(), own.data());
          EXPECT_EQ(array.size(), own.size());
          for (rank peer = 0; peer < w.size(); ++peer) {
            const words expected = words_of(peer);
            ASSERT_EQ(array.size(peer), expected.size());
            words got(expected.size());
            EXPECT_EQ(l.get(std::as_writable_bytes(std::span(got)), array.at(peer)), status::done);
            EXPECT_EQ(got, expected);
          }
          w.barrier();
        },
        launcher_stays);
}

TEST_P(ExposedSymmetric, TakesPutsAndAtomics) {
  run_ranks(3, config(), [](world& w) {
    lane l(w);
    words own(8);
    const auto array = w.expose_symmetric(std::span(own));
    const rank next = (w.rank() + 1) % w.size();
    std::uint64_t old = 0;
    EXPECT_EQ(l.put(std::uint64_t{40}, array.at(next, 7)), status::done);
    EXPECT_EQ(l.fetch_add(array.at(next, 7), std::uint64_t{2}, old), status::done);
    EXPECT_EQ(old, 40u);
    for (int i = 0; i < 50; ++i)
      EXPECT_EQ(l.fetch_add(array.at(0, 1), std::uint64_t{1}, old), status::done);
    w.barrier();
    EXPECT_EQ(l.flush(), status::done);
    EXPECT_EQ(load(own[7]), 42u);
    EXPECT_EQ(load(own[1]), w.rank() == 0 ? 150u : 0u);
    w.barrier();
  });
}

TEST_P(ExposedSymmetric, HasTheBoundsOfEachRanksOwnPart) {
  run_ranks(3, config(), [](world& w) {
    lane l(w);
    words own = words_of(w.rank());
    const auto array = w.expose_symmetric(std::span(own));
    for (rank peer = 0; peer < w.size(); ++peer) {
      std::uint64_t value = 5;
      EXPECT_EQ(l.put(value, array.at(peer, array.size(peer))), status::out_of_bounds);
      EXPECT_EQ(l.get(value, array.at(peer, array.size(peer))), status::out_of_bounds);
    }
    EXPECT_EQ(array.size(-1), 0u);
    EXPECT_EQ(array.size(w.size()), 0u);
    std::uint64_t value = 5;
    EXPECT_EQ(l.put(value, array.at(w.size())), status::invalid);
    w.barrier();
    EXPECT_EQ(own, words_of(w.rank()));
  });
}

TEST_P(ExposedSymmetric, GivesTheRightsThatAllHaveNamed) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    words own(4, 9);
    const auto array = w.expose_symmetric(std::span(own), rights::read);
    std::uint64_t value = 0;
    EXPECT_EQ(l.get(value, array.at(1 - w.rank(), 3)), status::done);
    EXPECT_EQ(value, 9u);
    EXPECT_EQ(l.put(value, array.at(1 - w.rank())), status::denied);
    EXPECT_EQ(l.fetch_add(array.at(1 - w.rank()), value, value), status::denied);
    w.barrier();
  });
}

TEST_P(ExposedSymmetric, IsWithdrawnAtItsEndAndTheMemoryStays) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    words own(4, 9);
    std::optional array(w.expose_symmetric(std::span(own)));
    const auto keeps = w.expose_symmetric(std::span(own));
    const rank peer = 1 - w.rank();
    std::uint64_t value = 0;
    EXPECT_EQ(l.get(value, array->at(peer)), status::done);
    w.barrier();
    if (w.rank() == 0) array.reset();
    w.barrier();
    if (w.rank() == 1) {
      EXPECT_EQ(l.put(value, array->at(0)), status::withdrawn);
      EXPECT_EQ(l.put(value, keeps.at(0)), status::done);
    }
    w.barrier();
  });
}

TEST_P(ExposedSymmetric, MayOutliveItsWorldAndAnswersClosed) {
  auto sessions = bootstrap::local_group(1);
  auto w = std::make_unique<world>(engine::make_world(std::move(sessions.front()), config()));
  lane l(*w);
  words own(4, 9);
  const auto array = w->expose_symmetric(std::span(own));
  std::uint64_t value = 0;
  EXPECT_EQ(l.get(value, array.at(0)), status::done);
  w.reset();
  EXPECT_EQ(l.get(value, array.at(0)), status::closed);
  EXPECT_EQ(array.mapped_memory(0).data(), own.data());
}

// --- what all refuse where one does --------------------------------------------------------

/// With a launcher that helps to meet, and without.
class RefusedSymmetric : public testing::TestWithParam<bool> {
 protected:
  /// What each of three ranks hears; behind it they can expose as if nothing had been.
  static void expect_on_all(const std::function<void(world&)>& expose,
                            const testing::Matcher<std::string>& said) {
    run_ranks(
        3, settings_for("shm"),
        [&](world& w) {
          EXPECT_THAT(refusal([&] { expose(w); }), said) << "rank " << w.rank();
          lane l(w);
          words own(2, 7);
          const auto array = w.expose_symmetric(std::span(own));
          std::uint64_t value = 0;
          EXPECT_EQ(l.get(value, array.at(0, 1)), status::done);
          EXPECT_EQ(value, 7u);
          w.barrier();
        },
        GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Launchers, RefusedSymmetric, testing::Bool(),
                         [](const auto& one) { return one.param ? "ThatMeet" : "ThatOnlyStart"; });

TEST_P(RefusedSymmetric, NullOfOneRankIsRefusedOnAllWithItsName) {
  expect_on_all(
      [](world& w) {
        words own(4);
        std::uint64_t* const data = w.rank() == 1 ? nullptr : own.data();
        (void)w.expose_symmetric(std::span(data, 4));
      },
      testing::StrEq("expose symmetric memory: rank 1 refuses: null was given for 32 bytes"));
}

TEST_P(RefusedSymmetric, ARankWithoutRegionsLeftIsRefusedOnAllWithTheReason) {
  std::vector<region> all;
  expect_on_all(
      [&](world& w) {
        static std::uint64_t word;
        const auto bytes = std::as_writable_bytes(std::span(&word, 1));
        std::vector<region> used;
        if (w.rank() == 2) {
          EXPECT_THAT(refusal([&] {
                        for (;;) used.push_back(w.expose(bytes));
                      }),
                      HasSubstr("regions are in use"));
        }
        (void)w.expose_symmetric(std::span(&word, 1));
      },
      AllOf(HasSubstr("rank 2 refuses: expose 8 bytes: all "), HasSubstr("regions are in use")));
}

TEST_P(RefusedSymmetric, OtherRightsAreRefusedOnAll) {
  expect_on_all(
      [](world& w) {
        words own(4);
        (void)w.expose_symmetric(std::span(own), w.rank() == 1 ? rights::read : rights::all);
      },
      HasSubstr("gives other rights or makes another call"));
}

TEST_P(RefusedSymmetric, AnotherCallIsRefusedOnAll) {
  expect_on_all(
      [](world& w) {
        words own(4);
        if (w.rank() == 1)
          (void)w.symmetric<std::uint64_t>(4);
        else
          (void)w.expose_symmetric(std::span(own));
      },
      testing::AnyOf(HasSubstr("makes another call"), HasSubstr("other rights on rank ")));
}

TEST(Symmetric, ThatWasRefusedLeavesNoRegionBehind) {
  run_ranks(2, settings_for("shm"), [](world& w) {
    for (int i = 0; i < 1100; ++i)  // more than there can be alive
      EXPECT_THAT(refusal([&] { (void)w.symmetric<int>(w.rank() == 0 ? 1 : 2); }),
                  HasSubstr("another size or other rights"));
  });
}

TEST(Symmetric, AnArrayThatStaysKeepsNoLaterOneOut) {
  run_ranks(2, settings_for("shm"), [](world& w) {
    const auto stays = w.symmetric<int>(1);
    lane l(w);
    for (int i = 0; i < 1100; ++i) {  // more than there can be alive
      const auto passes = w.symmetric<int>(1);
      ASSERT_EQ(l.put(i, passes.at(1 - w.rank())), status::done);
      w.barrier();
      ASSERT_EQ(passes.local()[0], i);
      w.barrier();
    }
    EXPECT_EQ(l.put(1, stays.at(1 - w.rank())), status::done);
    w.barrier();
  });
}

TEST(Symmetric, WhatOneRankHasDestroyedAndAnotherNotKeepsNoLaterOneOut) {
  run_ranks(2, settings_for("shm"), [](world& w) {
    lane l(w);
    std::vector<symmetric<int>> kept;
    for (int i = 0; i < 1024; ++i) {
      auto made = w.symmetric<int>(1);
      if (i % 2 == w.rank() && i < 8) kept.push_back(std::move(made));
    }
    w.barrier();
    for (int i = 0; i < 8; ++i) {
      const auto made = w.symmetric<int>(1);
      ASSERT_EQ(l.put(i, made.at(1 - w.rank())), status::done);
      w.barrier();
      ASSERT_EQ(made.local()[0], i);
      w.barrier();
    }
  });
}

TEST(Symmetric, WhereOneRankHasNoRoomTheOthersDoNotWait) {
  run_ranks(2, settings_for("shm"), [](world& w) {
    const std::size_t items = w.rank() == 0 ? 8 : SIZE_MAX;
    EXPECT_THROW((void)w.symmetric<int>(items), error);
    w.barrier();
  });
}

// --- memory of peers that is mapped ----------------------------------------------------------

class MappedMemory : public Engine {
 protected:
  [[nodiscard]] static bool maps() { return GetParam().backend == "shm"; }
};
INSTANTIATE_TEST_SUITE_P(Ways, MappedMemory, all_ways(), name_of_way);

TEST_P(MappedMemory, OfASymmetricArrayIsLoadedAndStoredByTheProgram) {
  run_ranks(3, config(), [](world& w) {
    lane l(w);
    const auto array = w.symmetric<std::uint64_t>(16);
    const rank next = (w.rank() + 1) % w.size(), before = (w.rank() + w.size() - 1) % w.size();
    const auto there = array.mapped_memory(next);
    ASSERT_EQ(there.size(), maps() ? 16u : 0u);
    EXPECT_EQ(there.data() != nullptr, maps());
    if (maps()) store(there[5], 70 + static_cast<std::uint64_t>(w.rank()));
    store(array.local()[6], 80 + static_cast<std::uint64_t>(w.rank()));
    w.barrier();
    if (maps()) {
      EXPECT_EQ(load(array.local()[5]), 70 + static_cast<std::uint64_t>(before));
      EXPECT_EQ(load(there[6]), 80 + static_cast<std::uint64_t>(next));
      std::uint64_t got = 0;
      EXPECT_EQ(l.get(got, array.at(next, 5)), status::done);
      EXPECT_EQ(got, 70 + static_cast<std::uint64_t>(w.rank()));
    }
    w.barrier();
  });
}

TEST_P(MappedMemory, OfThisRankIsItsOwnPart) {
  run_ranks(2, config(), [](world& w) {
    const auto array = w.symmetric<int>(3);
    EXPECT_EQ(array.mapped_memory(w.rank()).data(), array.local().data());
    EXPECT_EQ(array.mapped_memory(w.rank()).size(), 3u);
    EXPECT_TRUE(array.mapped_memory(-1).empty());
    EXPECT_TRUE(array.mapped_memory(2).empty());
  });
}

TEST_P(MappedMemory, IsNoneOfWhatTheProgramHasExposed) {
  run_ranks(2, config(), [](world& w) {
    words own(4);
    const auto array = w.expose_symmetric(std::span(own));
    EXPECT_TRUE(array.mapped_memory(1 - w.rank()).empty());
    EXPECT_EQ(array.mapped_memory(w.rank()).data(), own.data());
    w.barrier();
  });
}

TEST_P(MappedMemory, OfARegionIsThereUntilItIsWithdrawnAndMayBeTouchedLonger) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    const auto keys = w.symmetric<key>(1);
    region mine = w.allocate(4096);
    keys.local()[0] = mine.key();
    store(*reinterpret_cast<std::uint64_t*>(mine.memory().data()), 11);
    w.barrier();
    key other;
    ASSERT_EQ(l.get(other, keys.at(1 - w.rank())), status::done);
    const remote_region theirs = w.import(other);
    const auto there = theirs.mapped_memory();
    EXPECT_EQ(there.size(), maps() ? 4096u : 0u);
    EXPECT_EQ(theirs.allowed(), rights::all);
    w.barrier();
    mine.withdraw();
    w.barrier();
    EXPECT_TRUE(theirs.mapped_memory().empty());
    if (maps()) {
      EXPECT_EQ(load(*reinterpret_cast<std::uint64_t*>(there.data())), 11u);
    }
    w.barrier();
  });
}

TEST_P(MappedMemory, OfReadableMemoryCanBeLoaded) {
  run_ranks(2, config(), [](world& w) {
    const auto array = w.symmetric<std::uint64_t>(2, rights::read);
    store(array.local()[1], 5 + static_cast<std::uint64_t>(w.rank()));
    w.barrier();
    const auto there = array.mapped_memory(1 - w.rank());
    EXPECT_EQ(there.size(), maps() ? 2u : 0u);
    if (maps()) {
      EXPECT_EQ(load(there[1]), 6 - static_cast<std::uint64_t>(w.rank()));
    }
    w.barrier();
  });
}

TEST(MappedMemoryAndTheEnd, IsNoneOfAPeerBehindTheEndOfTheWorld) {
  run_ranks(2, settings_for("shm"), [](world& outer) {
    auto w = std::make_unique<world>(outer);
    const auto array = w->symmetric<std::uint64_t>(2);
    const auto there = array.mapped_memory(1 - w->rank());
    EXPECT_EQ(there.size(), 2u);
    w->barrier();
    w.reset();
    EXPECT_TRUE(array.mapped_memory(1 - outer.rank()).empty());
    EXPECT_EQ(load(there[0]), 0u);  // still mapped
    outer.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
