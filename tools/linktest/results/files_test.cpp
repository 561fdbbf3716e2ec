// SPDX-License-Identifier: BSD-3-Clause
// files_test.cpp - what is written can be read back, whole or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <heddle/status.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include "linktest/results/hdf5_file.h"
#include "linktest/results/json_document.h"
#include "linktest/results/json_file.h"
#include "linktest/results/output.h"
#include "linktest/results/pair_list.h"
#include "linktest/results/reading.h"
#include "linktest/results/sample.h"
#include "linktest/results/tables.h"
#include "linktest/results/text_file.h"
#include "linktest/results/writing.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
namespace fs = std::filesystem;

/// Of a run with a rule that three pairs miss.
run_facts judged_facts() {
  run_facts facts = full_facts();
  facts.chosen.search.expect = {"other:time<=1e-5"};
  facts.chosen.search.baseline = "before";
  facts.missed = {{"other:time<=1e-5", 1024, 3, 4, 2, 1, 21e-6, 1e-5}};
  return facts;
}

class Files : public ::testing::Test {
 protected:
  Files() : root_(fs::path(::testing::TempDir()) / "linktest_XXXXXX") {
    std::string name = root_.string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root_ = name;
  }
  ~Files() override { fs::remove_all(root_); }
  [[nodiscard]] std::string in_root(const char* name) const { return (root_ / name).string(); }
  fs::path root_;
};

// --- HDF5, read back with the library's own reading functions ---

std::vector<double> read_matrix(hid_t file, const char* name, std::size_t n) {
  std::vector<double> out(n * n);
  const hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
  EXPECT_GE(data, 0) << name;
  EXPECT_EQ(H5Sget_simple_extent_npoints(H5Dget_space(data)), static_cast<hssize_t>(n * n));
  EXPECT_GE(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), 0);
  H5Dclose(data);
  return out;
}

std::string read_text(hid_t file, const char* object, const char* name) {
  const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(attribute, 0) << name;
  char* text = nullptr;
  EXPECT_GE(H5Aread(attribute, H5Aget_type(attribute), &text), 0);
  const std::string out = text == nullptr ? "" : text;
  H5free_memory(text);
  H5Aclose(attribute);
  return out;
}

std::uint64_t read_number(hid_t file, const char* name) {
  std::uint64_t out = 0;
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  EXPECT_GE(H5Aread(attribute, H5T_NATIVE_UINT64, &out), 0) << name;
  H5Aclose(attribute);
  return out;
}

TEST_F(Files, Hdf5HoldsMatricesWithUnitsAndTheRunsFacts) {
  const std::string path = in_root("x.h5");
  write_hdf5(path, sample_facts(), sample_results());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const auto times = read_matrix(file, "/size_1024/time_median", 3);
  EXPECT_NEAR(times[2 * 3 + 1], 21e-6, 1e-6 * 21e-6);
  EXPECT_TRUE(std::isnan(times[1 * 3 + 2]));
  EXPECT_TRUE(std::isnan(times[1 * 3 + 2]));
  EXPECT_NEAR(read_matrix(file, "/size_8/bandwidth", 3)[1], 8 / 1e-6, 1e-6 * (8 / 1e-6));
  EXPECT_EQ(read_matrix(file, "/size_8/failed", 3),
            (std::vector<double>{0, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(read_matrix(file, "/size_1024/state", 3),
            (std::vector<double>{0, 1, 1, 1, 0, 2, 3, 1, 0}));
  EXPECT_EQ(read_text(file, "/size_8/time_min", "units"), "s");
  EXPECT_EQ(read_text(file, "/size_8/bandwidth", "units"), "B/s");
  EXPECT_EQ(read_text(file, "/", "started"), "2025-01-31T23:59:59Z");
  EXPECT_EQ(read_text(file, "/", "kernel"), "semi");
  EXPECT_EQ(read_text(file, "/", "heddle_version"), "1.2.3");
  EXPECT_EQ(read_number(file, "seed"), ~std::uint64_t{0});
  EXPECT_EQ(read_number(file, "ranks"), 3u);
  EXPECT_EQ(read_number(file, "complete"), 0u);
  H5Fclose(file);
}

TEST_F(Files, Hdf5TakesHostsWhoseNamesHaveSlashes) {
  run_facts facts = sample_facts();
  facts.machines = {{"rack1/n0", {{"processor", "A"}}}, {"rack1/n1", {{"processor", "B"}}}};
  const std::string path = in_root("x.h5");
  write_hdf5(path, facts, sample_results());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_EQ(read_text(file, "/machines/rack1/n0", "processor"), "A");
  EXPECT_EQ(read_text(file, "/machines/rack1/n1", "processor"), "B");
  H5Fclose(file);
}

TEST_F(Files, Hdf5HoldsVerdictsAndMissedRulesAsColumns) {
  const std::string path = in_root("x.h5");
  write_hdf5(path, judged_facts(), sample_results());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_EQ(read_matrix(file, "/verdicts/node", 1), std::vector{1.0});
  EXPECT_EQ(read_matrix(file, "/verdicts/factor", 1), std::vector{3.5});
  EXPECT_EQ(read_matrix(file, "/missed_rules/bytes", 1), std::vector{1024.0});
  EXPECT_EQ(read_matrix(file, "/missed_rules/wanted", 1), std::vector{1e-5});
  EXPECT_EQ(read_number(file, "diagnosed"), 1u);
  EXPECT_EQ(read_text(file, "/", "disturbed"), "rank 2 (beta) 31 %");
  EXPECT_EQ(read_number(file, "exit_status"), 3u);
  H5Fclose(file);
  write_hdf5(path, sample_facts(), sample_results());
  const hid_t healthy = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_TRUE(read_matrix(healthy, "/missed_rules/bytes", 0).empty());
  EXPECT_EQ(H5Lexists(healthy, "verdicts", H5P_DEFAULT), 0) << "nobody looked";
  H5Fclose(healthy);
}

/// nlohmann's own writing of a whole document is what the stream must give.
TEST_F(Files, JsonIsStreamedAsItWouldBeWrittenAtOnce) {
  constexpr int ranks = most_ranks_of_matrices + 1;
  run_facts many = sample_facts();
  many.hosts.assign(ranks, "alpha");
  const results nothing(ranks, kernel::semi, {8});
  const std::string whole = text_of(write_json, judged_facts(), sample_results());
  const std::string summary = text_of(write_json_summary, sample_facts(), sample_results());
  const std::string empty = text_of(write_json, many, nothing);
  EXPECT_THAT(empty, HasSubstr("\"initiator\": []"));
  for (const std::string& text : {whole, summary, empty})
    EXPECT_EQ(nlohmann::ordered_json::parse(text).dump(1) + '\n', text);
}

TEST_F(Files, TextThatIsLongerThanWhatIsKeptInMemoryIsWritten) {
  std::string whole;
  text_file file(in_root("long"));
  for (int i = 0; i < 100'000; ++i) {
    whole += std::to_string(i);
    file.add(std::to_string(i));
  }
  file.close();
  EXPECT_EQ(linktest::read_text(in_root("long")), whole);
}

TEST_F(Files, AFullDiskIsToldWhileTextIsWrittenAndAtItsEnd) {
  const auto problem = [](std::size_t bytes) -> std::string {
    try {
      text_file file("/dev/full");
      file.add(std::string(bytes, 'x'));
      if (bytes > 65536) return "is not written at once";
      file.close();
    } catch (const error& why) {
      return why.what();
    }
    return "no error";
  };
  for (const std::size_t bytes : {1, 1'000'000})
    EXPECT_EQ(problem(bytes), "write /dev/full: No space left on device");
}

TEST_F(Files, ASampleIsReadBackAsWhole) {
  results all = sample_results();
  all.set_sample(1);
  ASSERT_EQ(all.missing(), 2u) << "one is lost and one corrupted";
  write_hdf5(in_root("x.h5"), sample_facts(), all);
  EXPECT_EQ(read_hdf5(in_root("x.h5")).all.missing(), all.missing());
  EXPECT_EQ(from_json(text_of(write_json, sample_facts(), all)).all.missing(), all.missing());
}

TEST_F(Files, BytesThatAreNoTextLoseNoFile) {
  run_facts facts = sample_facts();
  facts.command = "heddle linktest --output /m\xfcller";
  write_hdf5(in_root("x.h5"), facts, sample_results());
  EXPECT_EQ(read_hdf5(in_root("x.h5")).facts.command, "heddle linktest --output /m\uFFFDller");
  EXPECT_THAT(text_of(write_json, facts, sample_results()), HasSubstr("m\uFFFDller"));
}

TEST_F(Files, Hdf5NamesThePathItCannotWrite) {
  try {
    write_hdf5(in_root("missing/x.h5"), sample_facts(), sample_results());
    FAIL();
  } catch (const error& why) {
    EXPECT_THAT(why.what(), HasSubstr("missing/x.h5"));
  }
}

// --- JSON ---

TEST_F(Files, JsonHoldsTheSameWithNullForWhatWasNotMeasured) {
  const auto doc = nlohmann::json::parse(text_of(write_json, sample_facts(), sample_results()));
  EXPECT_EQ(doc["format"], "heddle-linktest");
  EXPECT_EQ(doc["schema_version"], json_schema_version);
  EXPECT_EQ(doc["options"]["seed"], ~std::uint64_t{0});
  EXPECT_EQ(doc["options"]["sizes"], (std::vector<int>{8, 1024}));
  EXPECT_EQ(doc["hosts"][2], "beta");
  EXPECT_EQ(doc["complete"], false);
  EXPECT_EQ(doc["metrics"]["bandwidth"]["unit"], "B/s");
  const auto& large = doc["sizes"][1];
  EXPECT_EQ(large["bytes"], 1024);
  EXPECT_NEAR(large["matrices"]["time_median"][2][1].get<double>(), 21e-6, 1e-11);
  EXPECT_TRUE(large["matrices"]["time_median"][1][2].is_null());
  EXPECT_TRUE(large["matrices"]["bandwidth"][0][0].is_null());
  EXPECT_TRUE(large["matrices"]["time_median"][1][2].is_null());
  EXPECT_TRUE(large["matrices"]["bandwidth"][0][0].is_null());
  EXPECT_EQ(large["matrices"]["state"][2][0], "corrupted");
  EXPECT_NEAR(large["summary"]["time"]["max"].get<double>(), 21e-6, 1e-6 * 21e-6);
  ASSERT_EQ(large["slowest"].size(), 1u);
  EXPECT_EQ(large["slowest"][0]["initiator"], 1) << "compared with pairs of its class";
  EXPECT_EQ(large["slowest"][0]["initiator_host"], "alpha");
}

// --- back from each format ---

void expect_same_run(const run_record& got, const run_facts& facts, const results& all) {
  EXPECT_EQ(facts_as_json(got.facts, got.all), facts_as_json(facts, all));
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    EXPECT_EQ(got.all.states(s), all.states(s));
    for (const metric m : all_metrics) {
      const auto before = all.matrix(s, m), after = got.all.matrix(s, m);
      for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_TRUE(before[i] == after[i] || (std::isnan(before[i]) && std::isnan(after[i])))
            << name_of(m) << ' ' << i << ": " << before[i] << " became " << after[i];
    }
  }
}

TEST_F(Files, Hdf5AndJsonAreReadBackWithNothingLost) {
  const run_facts facts = judged_facts();
  const results all = sample_results();
  write_hdf5(in_root("linktest.h5"), facts, all);
  expect_same_run(read_results(in_root("linktest.h5")), facts, all);
  expect_same_run(read_results(root_.string()), facts, all);
  write_text(in_root("any name"), text_of(write_json, facts, all));
  expect_same_run(read_results(in_root("any name")), facts, all);
}

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

TEST_F(Files, OfMoreRanksThanMatricesAreKeptOfListTheKnownPairsAndAreReadBackWithNothingLost) {
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

TEST_F(Files, ListPairsWhereLessThanHalfOfASquareIsKnownAndThenAreSmallerThanOne) {
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

TEST_F(Files, RowsThatAreKeptInAFileGiveTheSameFiles) {
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

TEST_F(Files, RowsThatHaveNoRoomAreToldWithTheFolderAndTheCure) {
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

TEST_F(Files, ListsOfPairsThatNameWhatIsNotThereAreRefused) {
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

TEST_F(Files, GroupsAreKeptByRankAndFilesOfBeforeThereWereAnyAreRead) {
  run_facts facts = judged_facts();
  const results all = sample_results();
  facts.groups = {"rack1", "rack1", "rack2"};
  write_hdf5(in_root("linktest.h5"), facts, all);
  expect_same_run(read_results(in_root("linktest.h5")), facts, all);
  auto doc = nlohmann::ordered_json::parse(text_of(write_json, facts, all));
  EXPECT_EQ(doc["groups"][2], "rack2");
  doc["groups"].erase(2);
  EXPECT_THROW((void)from_json(doc.dump()), error) << "a rank has none";
  doc.erase("groups");
  facts.groups.clear();
  expect_same_run(from_json(doc.dump()), facts, all);
}

TEST_F(Files, WhatIsNoResultIsRefusedByNameWithWhatCanBeRead) {
  const auto refusal = [](const std::string& path) -> std::string {
    try {
      (void)read_results(path);
    } catch (const error& why) {
      return why.what();
    }
    return {};
  };
  EXPECT_THAT(refusal(in_root("x")), HasSubstr("no such file"));
  EXPECT_THAT(refusal(root_.string()), HasSubstr("neither linktest.h5 nor linktest.json"));
  write_text(in_root("a.txt"), "hello");
  EXPECT_THAT(refusal(in_root("a.txt")), HasSubstr("SION file of LinkTest 1.x"));
  write_text(in_root("b.json"), "{\"format\": \"other\"}");
  EXPECT_THAT(refusal(in_root("b.json")), HasSubstr("not a result of heddle linktest"));
  const std::string whole = text_of(write_json, sample_facts(), sample_results());
  write_text(in_root("c.json"), whole.substr(0, whole.size() / 2));
  EXPECT_THAT(refusal(in_root("c.json")), HasSubstr("not a whole result"));
  auto doc = nlohmann::json::parse(whole);
  doc["schema_version"] = json_schema_version + 1;
  write_text(in_root("d.json"), doc.dump());
  EXPECT_THAT(refusal(in_root("d.json")), HasSubstr("use a newer one"));
  doc["schema_version"] = 1;
  doc["sizes"][0]["matrices"]["state"].erase(1);
  write_text(in_root("e.json"), doc.dump());
  EXPECT_THAT(refusal(in_root("e.json")), HasSubstr("row for every rank"));
  write_hdf5(in_root("f.h5"), sample_facts(), sample_results());
  fs::resize_file(in_root("f.h5"), fs::file_size(in_root("f.h5")) / 2);
  EXPECT_THAT(refusal(in_root("f.h5")), HasSubstr("is it whole?"));
}

// --- the directory ---

TEST_F(Files, OutputDirectoryIsMadeAndKeepsOnlyWholeFiles) {
  const std::string path = in_root("out");
  {
    output_directory out(path, 1000, existing::refuse);
    EXPECT_EQ(out.put("a.txt", [](const std::string& p) { write_text(p, "whole"); }),
              path + "/a.txt");
    EXPECT_THROW(out.put("b.txt",
                         [](const std::string& p) {
                           write_text(p, "half");
                           throw error("interrupted");
                         }),
                 error);
  }
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  EXPECT_EQ(names, std::vector<std::string>{"a.txt"});
}

TEST_F(Files, OutputDirectoryLosesWhatKilledProcessesLeftAndNothingElse) {
  const std::string path = in_root("left");
  std::string temporary;
  output_directory(path, 10, existing::refuse).put("a.txt", [&](const std::string& p) {
    temporary = fs::path(p).filename();
    write_text(p, "whole");
  });
  const std::string before = path + '/' + temporary.substr(0, temporary.rfind('.') + 1);
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  const std::string left = before + std::to_string(dead);
  const std::vector<std::string> others{before + std::to_string(::getppid()), before + "x",
                                        path + "/.a.txt.elsewhere." + std::to_string(dead)};
  write_text(left, "half");
  for (const std::string& other : others) write_text(other, "theirs");
  { const output_directory again(path, 10, existing::replace); }
  EXPECT_FALSE(fs::exists(left));
  for (const std::string& other : others) EXPECT_TRUE(fs::exists(other)) << other;
}

TEST_F(Files, OutputDirectoryIsGoneWhenNothingWasPutIntoIt) {
  { const output_directory out(in_root("out"), 10, existing::refuse); }
  EXPECT_FALSE(fs::exists(in_root("out")));
  fs::create_directory(in_root("mine"));
  { const output_directory out(in_root("mine"), 10, existing::refuse); }
  EXPECT_TRUE(fs::exists(in_root("mine"))) << "it was there before";
}

TEST_F(Files, OutputDirectoryIsRefusedBeforeTheRunWithCauseAndCure) {
  const auto refusal = [](const std::string& path, std::uint64_t bytes) -> std::string {
    try {
      const output_directory out(path, bytes, existing::refuse);
    } catch (const error& why) {
      return why.what();
    }
    return {};
  };
  EXPECT_THAT(refusal(in_root("no/parent"), 1), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal(in_root("no/parent"), 1), HasSubstr("--output DIR"));
  write_text(in_root("file"), "");
  EXPECT_THAT(refusal(in_root("file"), 1), HasSubstr("Not a directory"));
  EXPECT_THAT(refusal(in_root("huge"), std::uint64_t{1} << 60), HasSubstr("results need about"));
  EXPECT_FALSE(fs::exists(in_root("huge")));
}

TEST_F(Files, OutputDirectoryWithResultsIsRefusedUnlessTheyAreToBeReplaced) {
  const std::string path = in_root("out");
  {
    output_directory out(path, 10, existing::refuse);
    out.put("linktest.json", [](const std::string& p) { write_text(p, "precious"); });
  }
  try {
    const output_directory out(path, 10, existing::refuse);
    FAIL();
  } catch (const error& why) {
    EXPECT_THAT(why.what(), HasSubstr("already holds results"));
    EXPECT_THAT(why.what(), HasSubstr("--overwrite"));
  }
  std::ifstream kept(path + "/linktest.json");
  std::string content;
  std::getline(kept, content);
  EXPECT_EQ(content, "precious");
  EXPECT_NO_THROW(output_directory(path, 10, existing::replace));
}

TEST_F(Files, ALookAtResultsShowsWhetherTheyWereWrittenSinceTheLast) {
  EXPECT_TRUE(look_for_results(in_root("out")).empty());
  output_directory out(in_root("out"), 10, existing::refuse);
  out.put("ranks-0-3.shard", [](const std::string& p) { write_text(p, "of a run"); });
  EXPECT_TRUE(look_for_results(in_root("out")).empty());
  out.put("linktest.json", [](const std::string& p) { write_text(p, "old"); });
  const results_written before = look_for_results(in_root("out"));
  EXPECT_EQ(before.size(), 1u);
  EXPECT_EQ(look_for_results(in_root("out")), before);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // file times are of the last tick
  out.put("linktest.json", [](const std::string& p) { write_text(p, "new"); });
  EXPECT_NE(look_for_results(in_root("out")), before);
}

TEST_F(Files, WhatAnEarlierRunLeftInOtherFormatsIsGoneButNothingElse) {
  output_directory out(in_root("out"), 10, existing::refuse);
  for (const char* name : {"linktest.h5", "linktest.csv", "linktest.json", "linktest.pdf"})
    out.put(name, [](const std::string& p) { write_text(p, "old"); });
  drop_other_formats(out, std::vector<std::string>{"json"});
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(in_root("out")))
    left.insert(entry.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{"linktest.json", "linktest.pdf"}));
}

TEST_F(Files, ClaimedDirectoriesAreEachNew) {
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  std::set<std::string> names;
  for (int i = 0; i < 3; ++i) names.insert(claim_directory());
  fs::current_path(before);
  EXPECT_EQ(names.size(), 3u);
  for (const std::string& name : names) EXPECT_TRUE(fs::is_directory(root_ / name)) << name;
}

TEST_F(Files, OutputReplacesAFileThatIsThere) {
  output_directory out(in_root("out"), 10, existing::refuse);
  for (const char* text : {"first and longer", "second"})
    out.put("a", [text](const std::string& p) { write_text(p, text); });
  std::ifstream in(in_root("out/a"));
  std::string content;
  std::getline(in, content);
  EXPECT_EQ(content, "second");
}

TEST_F(Files, RoomIsProvenForMoreThanBothFilesTake) {
  const std::string path = in_root("x.h5");
  write_hdf5(path, sample_facts(), sample_results());
  EXPECT_GT(bytes_needed(3, 6, 2),
            fs::file_size(path) + text_of(write_json, sample_facts(), sample_results()).size());
}

}  // namespace
}  // namespace heddle::linktest
