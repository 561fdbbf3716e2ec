// files_test.cpp - what is written can be read back, whole or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <heddle/status.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "linktest/hdf5_file.h"
#include "linktest/json_file.h"
#include "linktest/output.h"
#include "linktest/summary.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

run_facts sample_facts() {
  run_facts facts;
  facts.chosen.sizes = {8, 1024};
  facts.chosen.seed = ~std::uint64_t{0};
  facts.chosen.slowest = 1;
  facts.hosts = {"alpha", "alpha", "beta"};
  facts.routes = {"shm", "tcp"};
  facts.version = "1.2.3";
  facts.started = "2025-01-31T23:59:59Z";
  facts.ended = "2025-02-01T00:00:09Z";
  facts.elapsed_s = 10;
  return facts;
}

/// 3 ranks, time from r to p is (10 r + p) us; 1 -> 2 was lost, 2 -> 0 corrupted at 1024 bytes.
results sample_results() {
  results all(3, kernel::semi, {8, 1024});
  for (int r = 0; r < 3; ++r) {
    row mine(2, 3, 1);
    for (int p = 0; p < 3; ++p) {
      if (p == r || (r == 1 && p == 2)) continue;
      for (std::size_t s = 0; s < 2; ++s) mine.add_time(s, p, (10 * r + p) * 1e-6);
    }
    if (r == 1) mine.mark_all_sizes(2, pair_state::lost);
    if (r == 2) mine.mark(1, 0, pair_state::corrupted);
    all.set_row(r, mine.records());
  }
  return all;
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
  EXPECT_DOUBLE_EQ(times[2 * 3 + 1], 21e-6);
  EXPECT_TRUE(std::isnan(times[1 * 3 + 2]));
  EXPECT_DOUBLE_EQ(read_matrix(file, "/size_8/bandwidth", 3)[1], 8 / 1e-6);
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
  const auto doc = nlohmann::json::parse(to_json(sample_facts(), sample_results()));
  EXPECT_EQ(doc["format"], "heddle-linktest");
  EXPECT_EQ(doc["schema_version"], json_schema_version);
  EXPECT_EQ(doc["options"]["seed"], ~std::uint64_t{0});
  EXPECT_EQ(doc["options"]["sizes"], (std::vector<int>{8, 1024}));
  EXPECT_EQ(doc["hosts"][2], "beta");
  EXPECT_EQ(doc["complete"], false);
  EXPECT_EQ(doc["metrics"]["bandwidth"]["unit"], "B/s");
  const auto& large = doc["sizes"][1];
  EXPECT_EQ(large["bytes"], 1024);
  EXPECT_DOUBLE_EQ(large["matrices"]["time_median"][2][1].get<double>(), 21e-6);
  EXPECT_TRUE(large["matrices"]["time_median"][1][2].is_null());
  EXPECT_TRUE(large["matrices"]["bandwidth"][0][0].is_null());
  EXPECT_EQ(large["matrices"]["state"][2][0], "corrupted");
  EXPECT_DOUBLE_EQ(large["summary"]["time"]["max"].get<double>(), 21e-6);
  ASSERT_EQ(large["slowest"].size(), 1u);
  EXPECT_EQ(large["slowest"][0]["initiator"], 2);
  EXPECT_EQ(large["slowest"][0]["initiator_host"], "beta");
}

// --- the directory ---

TEST_F(Files, OutputDirectoryIsMadeAndKeepsOnlyWholeFiles) {
  const std::string path = in_root("out");
  {
    output_directory out(path, 1000);
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

TEST_F(Files, OutputDirectoryIsGoneWhenNothingWasPutIntoIt) {
  { const output_directory out(in_root("out"), 10); }
  EXPECT_FALSE(fs::exists(in_root("out")));
  fs::create_directory(in_root("mine"));
  { const output_directory out(in_root("mine"), 10); }
  EXPECT_TRUE(fs::exists(in_root("mine"))) << "it was there before";
}

TEST_F(Files, OutputDirectoryIsRefusedBeforeTheRunWithCauseAndCure) {
  const auto refusal = [](const std::string& path, std::uint64_t bytes) -> std::string {
    try {
      const output_directory out(path, bytes);
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

TEST_F(Files, OutputReplacesAFileThatIsThere) {
  output_directory out(in_root("out"), 10);
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
  EXPECT_GT(bytes_needed(3, 2),
            fs::file_size(path) + to_json(sample_facts(), sample_results()).size());
}

// --- the text on the terminal ---

TEST(Summary, TellsMinimumMedianAndMaximumPerSize) {
  const std::string text = figures(sample_results());
  EXPECT_THAT(text, HasSubstr("1 KiB"));
  EXPECT_THAT(text, HasSubstr("1.00 us"));
  EXPECT_THAT(text, HasSubstr("21.0 us"));
}

TEST(Summary, NamesTheSlowestPairsWithHostsAndRanks) {
  const std::string text = slowest_pairs(sample_facts(), sample_results());
  EXPECT_THAT(text, HasSubstr("rank 2 (beta) -> rank 1 (alpha)"));
  EXPECT_THAT(text, HasSubstr("x median"));
  EXPECT_THAT(text, Not(HasSubstr("rank 2 (beta) -> rank 0")));  // one per size was asked for
}

TEST(Summary, NamesFailedPairsAndWhy) {
  const std::string text = failures(sample_facts(), sample_results());
  EXPECT_THAT(text, HasSubstr("Failed measurements: 3"));
  EXPECT_THAT(
      text,
      HasSubstr("rank 1 (alpha) -> rank 2 (beta) 8 B: lost: died, or gave no answer within 60 s"));
  EXPECT_THAT(text, HasSubstr("rank 2 (beta) -> rank 0 (alpha) 1 KiB: corrupted"));
}

TEST(Summary, NamesARankWithWhichNothingWorksInsteadOfAllItsPairs) {
  results all(3, kernel::semi, {8});
  for (int r = 0; r < 3; ++r) {
    row mine(1, 3, 1);
    for (int p = 0; p < 3; ++p) {
      if (p == r) continue;
      if (r == 1 || p == 1)
        mine.mark(0, p, pair_state::lost);
      else
        mine.add_time(0, p, 1e-6);
    }
    all.set_row(r, mine.records());
  }
  EXPECT_EQ(failures(sample_facts(), all),
            "Failed measurements: 4\n"
            "  everything with rank 1 (alpha): lost: died, or gave no answer within 60 s\n");
}

TEST(Summary, JudgesCorruptionWorseThanAMissingPair) {
  EXPECT_EQ(verdict_of(sample_results()), corrupted);
  results all(2, kernel::semi, {8});
  EXPECT_EQ(verdict_of(all), incomplete);
  for (int r = 0; r < 2; ++r) {
    row mine(1, 2, 1);
    mine.add_time(0, 1 - r, 1e-6);
    all.set_row(r, mine.records());
  }
  EXPECT_EQ(verdict_of(all), success);
  EXPECT_EQ(failures(sample_facts(), all), "");
}

TEST(Summary, DescribesTheRunInOneLine) {
  EXPECT_EQ(describe_run(sample_facts()),
            "3 ranks on 2 hosts (alpha, beta) over shm and tcp: kernel semi, parallel, sizes 8 B, "
            "1 KiB, 100 "
            "messages, 3 repetitions\n");
}

TEST(Summary, TellsHostsOfOneNameApart) {
  EXPECT_EQ(tell_apart({"a", "a", "b"}, {0, 0, 1}), (std::vector<std::string>{"a", "a", "b"}));
  EXPECT_EQ(tell_apart({"a", "b", "a", "a"}, {0, 1, 2, 0}),
            (std::vector<std::string>{"a#0", "b", "a#2", "a#0"}));
}

TEST(Summary, NamesTheFirstOfManyHosts) {
  run_facts facts = sample_facts();
  facts.hosts = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  EXPECT_THAT(describe_run(facts), HasSubstr("on 9 hosts (a, b, c, d, e, f, g, h, ...) over"));
}

TEST(Summary, ShowsTimesOfTheSmallestAndBandwidthsOfTheLargestSize) {
  const std::string text = pictures(sample_facts(), sample_results(), color_depth::none);
  EXPECT_THAT(text, HasSubstr("Time per message, 8 B messages"));
  EXPECT_THAT(text, HasSubstr("Bandwidth, 1 KiB messages"));
}

}  // namespace
}  // namespace heddle::linktest
