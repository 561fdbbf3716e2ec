// SPDX-License-Identifier: BSD-3-Clause
// pair_list_test.cpp - results of many ranks or few pairs: lists in place of matrices, rows in a
// file.
#include "linktest/results/pair_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "linktest/results/hdf5_file.h"
#include "linktest/results/json_document.h"
#include "linktest/results/json_file.h"
#include "linktest/results/output.h"
#include "linktest/results/reading.h"
#include "linktest/results/sample.h"
#include "linktest/results/tables.h"
#include "linktest/results/test_folder.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
namespace fs = std::filesystem;
class PairLists : public in_test_folder {};

/// A ring: each has measured the next one.
results ring_of_many(int ranks) {
  results all(ranks, kernel::semi, {8, 1024});
  for (int r = 0; r < ranks; ++r) {
    row mine(2, ranks, 1);
    const int next = (r + 1) % ranks;
    for (std::size_t s = 0; s < 2; ++s) mine.add_time(s, next, (r % 7 + 1) * 1e-6);
    if (r == 5) mine.mark(1, next, pair_state::corrupted);
    if (r == 6) mine.mark_all_sizes(9, pair_state::lost);
    all.set_row(r, mine.records());
  }
  all.set_sample(static_cast<std::uint64_t>(ranks));
  return all;
}

/// Of each known pair of a size: its ends, its state and figures.
std::vector<std::tuple<int, int, pair_state, double, double>> known_in(const results& all,
                                                                       std::size_t size_index) {
  std::vector<std::tuple<int, int, pair_state, double, double>> out;
  all.for_known(size_index, [&](int r, int p, const pair_record& one) {
    const bool timed = one.time.n != 0;  // NaN would not be equal
    out.emplace_back(r, p, one.state, timed ? double{one.time.median} : 0,
                     timed ? all.value_of(size_index, one, metric::bandwidth) : 0);
  });
  return out;
}

TEST_F(PairLists, AreOfMoreRanksThanMatricesAreKeptOfAndAreReadBackWithNothingLost) {
  constexpr int ranks = most_ranks_of_matrices + 1;
  run_facts facts = sample_facts();
  facts.hosts.assign(ranks, "alpha");
  const results all = ring_of_many(ranks);
  const std::string json = text_of(write_json, facts, all), path = in_root("linktest.h5");
  EXPECT_FALSE(nlohmann::json::parse(json)["sizes"][0].contains("matrices"));
  write_hdf5(path, facts, all);
  EXPECT_LT(fs::file_size(path) + json.size(), bytes_needed(ranks, ranks + 1, 2));
  for (const run_record& got : {read_results(path), from_json(json)}) {
    EXPECT_EQ(got.all.sample(), all.sample());
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(known_in(got.all, s), known_in(all, s));
    }
  }
  const std::string table = text_of(write_csv, facts, all);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 2 * (ranks + 1));
}

TEST_F(PairLists, AreWhereLessThanHalfOfASquareIsKnownAndSmallerThanOne) {
  constexpr int ranks = 30;
  run_facts facts = sample_facts();
  facts.hosts.assign(ranks, "alpha");
  const auto known_to = [](int peers) {
    results all(ranks, kernel::semi, {8, 1024});
    for (int r = 0; r < ranks; ++r) {
      row mine(2, ranks, 1);
      for (int next = 1; next <= peers; ++next)
        mine.add_time(0, (r + next) % ranks, (r + next) * 1.2345e-6);
      all.set_row(r, mine.records());
    }
    return all;
  };
  const results few = known_to(ranks / 2 - 1), many = known_to(ranks / 2), none = known_to(0);
  const std::string listed = text_of(write_json, facts, few),
                    square = text_of(write_json, facts, many);
  EXPECT_TRUE(nlohmann::json::parse(listed)["sizes"][0].contains("pairs"));
  EXPECT_TRUE(nlohmann::json::parse(square)["sizes"][0].contains("matrices"));
  EXPECT_LT(listed.size(), square.size());
  for (const results* all : {&few, &many, &none}) {
    write_hdf5(in_root("x.h5"), facts, *all);
    expect_same_run(read_results(in_root("x.h5")), facts, *all);
    expect_same_run(from_json(text_of(write_json, facts, *all)), facts, *all);
  }
  const std::string table = text_of(write_csv, facts, few);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + ranks * (ranks / 2 - 1));
  EXPECT_THAT(text_of(write_csv, facts, none), MatchesRegex("kernel,op,[a-z0-9_,]*,bandwidth\n"));
}

TEST_F(PairLists, RowsThatAreKeptInAFileGiveTheSameFiles) {
  constexpr int ranks = most_ranks_of_matrices + 1;
  run_facts facts = sample_facts();
  facts.hosts.assign(ranks, "alpha");
  const results kept = ring_of_many(ranks);
  results filed(ranks, kernel::semi, kept.sizes());
  filed.keep_rows_in(root_.string());
  filed.set_sample(kept.sample());
  for (int r = 0; r < ranks; ++r) {
    std::vector<row_record> records;
    for (int p = 0; p < ranks; ++p)
      for (std::uint32_t s = 0; s < 2; ++s)
        if (const pair_record& one = kept.at(s, r, p); one.state != pair_state::unmeasured)
          records.push_back({p, s, one});
    ASSERT_TRUE(filed.set_row(r, records));
  }
  const results copy = filed;
  for (const auto& write : {write_json, write_csv, write_json_lines})
    EXPECT_EQ(text_of(write, facts, copy), text_of(write, facts, kept));
  write_hdf5(in_root("filed.h5"), facts, filed);
  const results again = read_results(in_root("filed.h5")).all;
  for (std::size_t s = 0; s < 2; ++s) EXPECT_EQ(known_in(again, s), known_in(kept, s));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1) << "that file has no name";
}

TEST_F(PairLists, RowsThatHaveNoRoomAreToldWithTheFolderAndTheCure) {
  results all(3, kernel::semi, {8});
  all.keep_rows_in(in_root("missing"));
  row mine(1, 3, 1);
  mine.add_time(0, 1, 1e-6);
  try {
    all.set_row(0, mine.records());
    FAIL();
  } catch (const error& why) {
    EXPECT_THAT(why.what(), HasSubstr("missing: No such file or directory; make room"));
    EXPECT_THAT(why.what(), HasSubstr("--resume"));
  }
}

TEST_F(PairLists, ThatNameWhatIsNotThereAreRefused) {
  constexpr int ranks = most_ranks_of_matrices + 1;
  run_facts facts = sample_facts();
  facts.hosts.assign(ranks, "alpha");
  const auto whole = nlohmann::ordered_json::parse(text_of(write_json, facts, ring_of_many(ranks)));
  const auto refuses = [&whole](const char* column, int at, int value) {
    auto doc = whole;
    doc["sizes"][0]["pairs"][column][static_cast<std::size_t>(at)] = value;
    EXPECT_THROW((void)from_json(doc.dump()), error) << column << ' ' << value;
  };
  refuses("peer", 0, ranks);
  refuses("peer", 0, -1);
  refuses("initiator", 0, ranks);
  auto twice = whole;
  twice["sizes"][0]["pairs"]["initiator"][1] = whole["sizes"][0]["pairs"]["initiator"][0];
  twice["sizes"][0]["pairs"]["peer"][1] = whole["sizes"][0]["pairs"]["peer"][0];
  EXPECT_THROW((void)from_json(twice.dump()), error);
  auto shorter = whole;
  shorter["sizes"][0]["pairs"]["time_p99"].erase(0);
  EXPECT_THROW((void)from_json(shorter.dump()), error);
}

}  // namespace
}  // namespace heddle::linktest
