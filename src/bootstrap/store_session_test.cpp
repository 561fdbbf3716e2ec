// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/store_session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>
#include <unistd.h>

#include <barrier>
#include <map>
#include <mutex>
#include <thread>

#include "support/blobs.h"
#include "support/refusal.h"

namespace heddle::bootstrap {
namespace {

using testing::HasSubstr;

/// A launcher's store in memory, with the rules of the worst one: what is put is to be had after
/// the next fence only, and the first value of a key stays.
class shelf {
 public:
  explicit shelf(int ranks) : meeting_(ranks) {}
  void put(int rank, const std::string& key, std::span<const std::byte> value) {
    const std::lock_guard lock(mutex_);
    put_.try_emplace({rank, key}, value.begin(), value.end());
  }
  void fence() {
    meeting_.arrive_and_wait();
    {
      const std::lock_guard lock(mutex_);
      fenced_.insert(put_.begin(), put_.end());
    }
    meeting_.arrive_and_wait();
  }
  blob get(int asker, int rank, const std::string& key) {
    const std::lock_guard lock(mutex_);
    ++gets_;
    ++gets_by_rank_[asker];
    const auto found = fenced_.find({rank, key});
    if (found == fenced_.end()) throw error("NOT-FOUND");
    return found->second;
  }

  void abort(int status) {
    const std::lock_guard lock(mutex_);
    aborted_with_ = status;
  }
  [[nodiscard]] int aborted_with() {
    const std::lock_guard lock(mutex_);
    return aborted_with_;
  }
  [[nodiscard]] std::map<int, int> gets_by_rank() {
    const std::lock_guard lock(mutex_);
    return gets_by_rank_;
  }
  [[nodiscard]] int gets() {
    const std::lock_guard lock(mutex_);
    return gets_;
  }

 private:
  std::barrier<> meeting_;
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, blob> put_, fenced_;
  std::map<int, int> gets_by_rank_;
  int gets_ = 0, aborted_with_ = 0;
};

class shelf_store final : public key_store {
 public:
  shelf_store(shelf& of, int rank, int* left = nullptr, int host = 0)
      : of_(of), rank_(rank), left_(left), host_(host) {}
  [[nodiscard]] std::string name() const override {
    return fmt::format("{}-{}-{}", getpid(), static_cast<void*>(&of_), host_);
  }
  void put(const std::string& key, std::span<const std::byte> value) override {
    of_.put(rank_, key, value);
  }
  void fence() override { of_.fence(); }
  blob get(int rank, const std::string& key) override { return of_.get(rank_, rank, key); }
  void abort(int status, std::string_view) noexcept override { of_.abort(status); }
  void leave() noexcept override {
    if (left_ != nullptr) ++*left_;
  }

 private:
  shelf& of_;
  int rank_;
  int* left_;
  int host_;
};

constexpr std::uint64_t late_ms = 60'000;

/// Ranks of a job, dealt out to hosts in turn.
template <class Work>
void on_ranks(shelf& launcher, int ranks, int hosts, Work work, int group = store_group) {
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      auto store = std::make_unique<shelf_store>(launcher, r, nullptr, r % hosts);
      work(*join_by_store(std::move(store), {r, ranks, 1, {}}, late_ms, group));
    });
  for (auto& t : threads) t.join();
}

template <class Work>
void on_ranks(int ranks, Work work) {
  shelf launcher(ranks);
  on_ranks(launcher, ranks, 1, work);
}

TEST(StoreSession, RanksShareASecretThatIsNotEmpty) {
  std::array<secret_bytes, 3> seen{};
  on_ranks(3,
           [&](session& me) { seen[static_cast<std::size_t>(me.info().rank)] = me.info().secret; });
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
  EXPECT_NE(seen[0], secret_bytes{});
}

TEST(StoreSession, ToJoinEachRankAsksRankZeroAndNobodyElse) {
  shelf launcher(4);
  on_ranks(launcher, 4, 2, [](session&) {});
  EXPECT_EQ(launcher.gets(), 4);
}

TEST(StoreSession, EveryExchangeReturnsWhatWasGivenInItOnAnyNumberOfHostsAndInGroupsOfAnySize) {
  constexpr int ranks = 7;
  for (const int hosts : {1, 2, 4, ranks})
    for (const int group : {2, 3, 64}) {
      shelf launcher(ranks);
      const auto meet = [](session& me) {
        for (int round = 0; round < 3; ++round) {
          const blob mine(static_cast<std::size_t>(me.info().rank), static_cast<std::byte>(round));
          const auto all = test::blobs_of(me.exchange(mine));
          ASSERT_EQ(all.size(), std::size_t{ranks});
          for (std::size_t r = 0; r < ranks; ++r)
            EXPECT_EQ(all[r], blob(r, static_cast<std::byte>(round)));
        }
        me.barrier();
      };
      on_ranks(launcher, ranks, hosts, meet, group);
    }
}

TEST(StoreSession, ATableOfSeveralPiecesComesWhole) {
  constexpr int ranks = 300;
  shelf launcher(ranks);
  const auto meet = [](session& me) {
    const auto value = static_cast<std::byte>(me.info().rank);
    const gathered all = me.exchange(blob(4096, value));
    ASSERT_GT(all.encoded().size(), bytes_in_piece);
    for (std::size_t r = 0; r < ranks; ++r) {
      ASSERT_EQ(all[r].size(), 4096u);
      EXPECT_EQ(all[r].back(), static_cast<std::byte>(r));
    }
  };
  on_ranks(launcher, ranks, 2, meet);
}

TEST(StoreSession, AJobOnOneHostAsksTheLauncherForItsSecretOnly) {
  shelf launcher(6);
  on_ranks(
      launcher, 6, 1, [](session& me) { EXPECT_EQ(me.exchange({}).size(), 6u); }, 2);
  EXPECT_EQ(launcher.gets(), 6);
}

TEST(StoreSession, HowOftenAHostAsksGrowsByGroupsAndNotByHosts) {
  constexpr int ranks = 128, group = 4, levels = 4, exchanges = 3;
  shelf launcher(ranks);
  int most = 0;
  const auto meet = [](session& me) {
    for (int i = 0; i < exchanges; ++i) (void)me.exchange({});
  };
  on_ranks(launcher, ranks, ranks, meet, group);
  for (const auto& [rank, gets] : launcher.gets_by_rank()) most = std::max(most, gets);
  // The secret, who speaks for others, and in each exchange the groups of a level, and the table.
  EXPECT_LE(most, 1 + levels * group + exchanges * (levels * group + 1));
}

TEST(StoreSession, IsForJoiningOnly) {
  on_ranks(1, [](session& me) { EXPECT_FALSE(me.meets_after_joining()); });
}

TEST(StoreSession, MoreBytesThanAllowedAreNotGiven) {
  on_ranks(1, [](session& me) { EXPECT_THROW((void)me.exchange(blob(4097)), error); });
}

TEST(StoreSession, ItsEndLeavesTheJobOnce) {
  shelf launcher(1);
  int left = 0;
  join_by_store(std::make_unique<shelf_store>(launcher, 0, &left), {}, late_ms).reset();
  EXPECT_EQ(left, 1);
}

TEST(StoreSession, AnAbortGoesToTheLauncher) {
  shelf launcher(1);
  on_ranks(launcher, 1, 1, [](session& me) { me.abort(42, "why"); });
  EXPECT_EQ(launcher.aborted_with(), 42);
}

TEST(StoreSession, AnotherVersionOfHeddleIsNamedByRankAndOneThatFailsDoesNotLeaveInOrder) {
  shelf launcher(2);
  int left = 0;
  std::thread other([&] {
    shelf_store store(launcher, 0);
    const blob strange{std::byte{99}};
    store.put("heddle-0", strange);
    store.fence();
  });
  const std::string why = test::refusal([&] {
    (void)join_by_store(std::make_unique<shelf_store>(launcher, 1, &left), {1, 2, 1, {}}, late_ms);
  });
  other.join();
  EXPECT_THAT(why, HasSubstr("rank 0 speaks another version"));
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace heddle::bootstrap
