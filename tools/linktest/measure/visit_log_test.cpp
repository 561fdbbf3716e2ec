// SPDX-License-Identifier: BSD-3-Clause
// visit_log_test.cpp - runs that are cut short and gone on with: nothing is measured twice, and
// nothing is left out.
#include "linktest/measure/visit_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

#include "exit_status.h"
#include "linktest/measure/measure.h"
#include "linktest/measure/test_fabric.h"
#include "linktest/results/output.h"
#include "linktest/results/unfinished.h"

namespace heddle::linktest {
namespace {

constexpr int ranks = 4;

class VisitLog : public testing::Test {
 protected:
  VisitLog() {
    std::filesystem::create_directories(folder_);
    how_.sizes = {8, 100};
    how_.messages = 2;
    how_.warmup = 1;
    how_.repetitions = 2;
    how_.most_repetitions = 4;
    how_.singles = 3;
  }
  ~VisitLog() override { std::filesystem::remove_all(folder_); }

  /// A sitting that ends before the unit `stop_at`, and what all ranks have then.
  results sit(std::uint64_t stop_at, std::uint64_t run = 7) {
    test_fabric fabric(ranks);
    results out(ranks, how_.kernel, how_.sizes);
    earlier_ = 0;
    fabric.run([&](messenger& wire) {
      std::vector<std::byte> send(100), receive(receive_bytes(how_));
      meeting all(wire);
      std::uint64_t units = 0;
      const observer watch{[&](const progress&) { ++units; }, [&] { return units >= stop_at; }};
      visit_log log({folder_, run}, wire.self(), hosts_, how_.sizes.size());
      earlier_ += log.earlier();
      const run_result mine = measure(all, how_, {send, receive}, {}, watch, log);
      EXPECT_EQ(log.problem(), 0);
      results found(ranks, how_.kernel, how_.sizes);
      const plan steps = plan_of(how_, ranks);
      if (gather_rows(all, mine.measured, steps, found).rows == gathered::place::here) out = found;
    });
    return out;
  }

  /// How often each visit is in the shards.
  [[nodiscard]] std::map<std::tuple<int, int, unsigned, unsigned>, int> kept() const {
    std::map<std::tuple<int, int, unsigned, unsigned>, int> out;
    for (const std::string& file : shards_in(folder_))
      for (const measured_visit& v : visits_in(read_text(file)))
        ++out[{v.initiator, v.peer, v.size_index, v.repetition}];
    return out;
  }

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  const std::string folder_ = testing::TempDir() + "visit_log_test." + std::to_string(getpid());
  std::vector<std::string> hosts_{"a", "a", "b", "b"};
  options how_;
  std::atomic<std::size_t> earlier_{0};
};

TEST_F(VisitLog, MeasuresEachVisitOnceInSeveralSittings) {
  const std::size_t visits = ranks * (ranks - 1) * 2 * 2;  // two sizes, two repetitions
  std::size_t before = 0;
  for (const std::uint64_t stop_at : {3u, 7u, 10u}) {
    (void)sit(stop_at);
    EXPECT_EQ(earlier_, before);
    before = kept().size();
    EXPECT_GT(before, earlier_);
    EXPECT_LT(before, visits);
  }
  const results all = sit(never);
  EXPECT_EQ(all.count(pair_state::measured), 2u * ranks * (ranks - 1));
  const auto at_the_end = kept();
  EXPECT_EQ(at_the_end.size(), visits);
  for (const auto& [visit, times] : at_the_end) EXPECT_EQ(times, 1);
  EXPECT_EQ(shards_in(folder_).size(), 2u) << "one for each host";
}

TEST_F(VisitLog, RestoresTheFiguresOfEarlierSittings) {
  const results first = sit(never), second = sit(never);
  for (const metric m : {metric::time_min, metric::time_median, metric::time_p99}) {
    const std::vector<double> before = first.matrix(1, m), now = second.matrix(1, m);
    for (int i = 0; i < ranks * ranks; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_TRUE(i % (ranks + 1) == 0 || before[at] == now[at]) << name_of(m) << " of entry " << i;
    }
  }
}

TEST_F(VisitLog, MeasuresAgainWhatWasTornOffTheShards) {
  (void)sit(never);
  const auto whole = kept().size();
  for (const std::string& file : shards_in(folder_))
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  EXPECT_EQ(kept().size(), whole - 2);
  const results all = sit(never);
  EXPECT_EQ(earlier_, whole - 2);
  EXPECT_EQ(all.count(pair_state::measured), 2u * ranks * (ranks - 1));
  EXPECT_EQ(kept().size(), whole) << "what came behind a torn record is found";
}

TEST_F(VisitLog, MeasuresAgainThePairsOfAHostThatWasReplacedAndThoseOfOtherRuns) {
  (void)sit(never);
  hosts_ = {"a", "a", "b", "c"};
  (void)sit(never);
  EXPECT_EQ(earlier_, 6u * 2 * 2) << "all among ranks 0 to 2";
  (void)sit(never, 8);
  EXPECT_EQ(earlier_, 0u);
}

TEST_F(VisitLog, SaysWhyNothingCanBeKept) {
  visit_log log({folder_ + "/no/such", 7}, 0, hosts_, 1);
  log.keep({});
  log.flush();
  EXPECT_EQ(log.problem(), ENOENT);
}

TEST_F(VisitLog, OfAnUnfinishedRunHasItsOptionsUntilItIsOver) {
  how_.seed = 42;
  how_.search.expect = {"median>=0.9*ref"};
  write_unfinished(folder_, begin_run(how_, ranks, "heddle linktest"));
  const options again = read_unfinished(folder_).chosen();
  EXPECT_EQ(again.ranks, ranks);
  EXPECT_EQ(to_arguments(again), [&] {
    options same = how_;
    same.ranks = ranks;
    return to_arguments(same);
  }());
  EXPECT_THROW(output_directory(folder_, 1, existing::refuse), error) << "it is not overwritten";
  (void)sit(3);
  forget_unfinished(folder_);
  forget_shards(folder_);
  EXPECT_FALSE(is_unfinished(folder_));
  EXPECT_TRUE(shards_in(folder_).empty());
  EXPECT_THROW((void)read_unfinished(folder_), tools::usage_error);
}

}  // namespace
}  // namespace heddle::linktest
