// fence_test.cpp - the litmus test of a store and a load ("store buffering"): each of two ranks
// puts into one word and gets the other's; with a fence between the two, at least one sees the
// other.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <atomic>
#include <cstdint>

#include "stress/ways.h"

namespace heddle::test {
namespace {

/// Meets the other rank's thread, so that both go on at once.
class meeting {
 public:
  void wait() {
    const std::uint64_t round = arrived_.fetch_add(1) / 2;
    while (arrived_.load() / 2 == round) std::this_thread::yield();
  }

 private:
  std::atomic<std::uint64_t> arrived_{0};
};

TEST_P(Stress, OfTwoRanksThatPutAndThenGetBehindAFenceOneSeesTheOther) {
  const int rounds = amount(2000, 100);
  meeting both;
  std::atomic<int> blind{0};  // gets that saw nothing, in this round
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    const auto words = w.symmetric<std::uint64_t>(2);
    const auto mine = words.at(0, static_cast<std::size_t>(w.rank()));
    const auto others = words.at(0, static_cast<std::size_t>(1 - w.rank()));
    for (int round = 1; round <= rounds; ++round) {
      const auto number = static_cast<std::uint64_t>(round);
      std::uint64_t seen = 0;
      both.wait();
      ASSERT_EQ(l.put(number, mine), status::done);
      ASSERT_EQ(l.fence(0), status::done);
      ASSERT_EQ(l.get(seen, others), status::done);
      if (seen != number) blind.fetch_add(1);
      both.wait();
      ASSERT_LT(blind.load(), 2) << "round " << round;
      both.wait();
      blind.store(0);
    }
  });
}

}  // namespace
}  // namespace heddle::test
