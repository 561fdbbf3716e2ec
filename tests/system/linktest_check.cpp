// SPDX-License-Identifier: BSD-3-Clause
// linktest_check.cpp - reads both result files of a link test and says what is wrong with them.
//
//   linktest_check [--lost RANK | --partial] DIRECTORY RANKS BYTES...
//   linktest_check --shards DIRECTORY    prints how many visits an unfinished run has kept, and
//   fails
//                                        when one of them was made twice
//
// Every pair must be measured at every size, but those with RANK be lost, and both files must hold
// the same numbers. With --partial the run was interrupted, and pairs may be unmeasured.
#include <hdf5.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "linktest/results/output.h"
#include "linktest/results/shard.h"

namespace {

using json = nlohmann::json;

int problems = 0;
std::size_t lost_rank = static_cast<std::size_t>(-1);  // none
bool partial = false;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "linktest_check: %s\n", what.c_str());
  ++problems;
}

json read_json(const std::string& path) {
  std::ifstream file(path);
  json doc = json::parse(file, nullptr, false);
  expect(!doc.is_discarded(), path + " is not JSON");
  return doc;
}

std::vector<double> read_values(hid_t file, const std::string& name, std::size_t entries) {
  std::vector<double> out(entries, -1);
  const hid_t data = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(data);
  expect(H5Sget_simple_extent_npoints(space) == static_cast<hssize_t>(entries),
         name + " has the wrong extent");
  expect(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) >= 0,
         name + " cannot be read");
  expect(H5Aexists(data, "units") > 0, name + " has no units");
  H5Sclose(space);
  H5Dclose(data);
  return out;
}

bool same(double a, const json& b) {
  return b.is_null() ? std::isnan(a) : static_cast<float>(a) == b.get<float>();
}

/// A size has a matrix of them, or lists of the known pairs.
json states_of(const json& size, std::size_t n) {
  if (!size.contains("pairs")) return size["matrices"]["state"];
  const json& pairs = size["pairs"];
  json out(n, json(n, "unmeasured"));
  for (std::size_t i = 0; i < pairs["peer"].size(); ++i)
    out.at(pairs["initiator"][i].get<std::size_t>()).at(pairs["peer"][i].get<std::size_t>()) =
        pairs["state"].at(i);
  return out;
}

void check_list(hid_t file, const json& size, const std::string& group, const std::string& metric) {
  const json& values = size["pairs"][metric];
  const std::vector<double> stored =
      read_values(file, group + "/pairs/" + metric, size["pairs"]["peer"].size());
  expect(values.size() == stored.size(), metric + " in JSON has the wrong length");
  for (std::size_t i = 0; i < stored.size(); ++i)
    expect(same(stored[i], values.at(i)), metric + " differs between the lists of both files");
}

void check_matrix(hid_t file, const json& size, const std::string& metric, std::size_t n) {
  const std::string group = "/size_" + std::to_string(size["bytes"].get<std::uint64_t>());
  if (size.contains("pairs")) return check_list(file, size, group, metric);
  const std::string name = group + "/" + metric;
  const std::vector<double> stored = read_values(file, name, n * n);
  const json& matrix = size["matrices"][metric];
  expect(matrix.size() == n, name + " in JSON has the wrong extent");
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t p = 0; p < n; ++p) {
      const double value = stored[r * n + p];
      const bool lost = r == lost_rank || p == lost_rank;  // it may have a value from before
      const bool missing = lost || (partial && std::isnan(value));
      expect(r == p ? std::isnan(value) : value > 0 || missing,
             name + " holds an impossible value");
      expect(same(value, matrix[r][p]), name + " differs between the files");
    }
  }
}

void check_states(const json& size, std::size_t n) {
  const json states = states_of(size, n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t p = 0; p < n; ++p) {
      if (r == p) continue;
      const char* const right = r == lost_rank || p == lost_rank ? "lost" : "measured";
      expect(states[r][p] == right || (partial && states[r][p] == "unmeasured"),
             "a pair's state is " + states[r][p].dump());
    }
  }
}

void check(const std::string& directory, std::size_t n, const std::vector<std::uint64_t>& sizes) {
  const json doc = read_json(directory + "/linktest.json");
  const hid_t file = H5Fopen((directory + "/linktest.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  expect(file >= 0, "linktest.h5 cannot be opened");
  if (problems > 0) return;
  expect(doc["format"] == "heddle-linktest" && doc["schema_version"] == 3, "wrong format");
  expect(partial || doc["complete"] == (lost_rank >= n),
         "it is wrong about whether it is complete");
  expect(doc["interrupted"] == partial, "it is wrong about whether it was interrupted");
  expect(doc["ranks"] == n && doc["hosts"].size() == n, "wrong number of ranks");
  expect(doc["options"]["sizes"] == json(sizes), "wrong sizes");
  expect(doc["sizes"].size() == sizes.size(), "a size is missing");
  for (const json& size : doc["sizes"]) {
    check_states(size, n);
    for (const char* metric : {"time_min", "time_median", "time_max", "bandwidth"})
      check_matrix(file, size, metric, n);
  }
  H5Fclose(file);
}

int check_shards(const std::string& folder) {
  std::set<std::tuple<int, int, unsigned, unsigned>> seen;
  for (const std::string& file : heddle::linktest::shards_in(folder))
    for (const auto& v : heddle::linktest::visits_in(heddle::linktest::read_text(file)))
      expect(seen.insert({v.initiator, v.peer, v.size_index, v.repetition}).second,
             "a visit was made twice");
  std::printf("%zu\n", seen.size());
  return problems == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--shards") return check_shards(argv[2]);
  if (argc > 2 && std::string(argv[1]) == "--lost") {
    lost_rank = std::strtoul(argv[2], nullptr, 10);
    argc -= 2;
    argv += 2;
  } else if (argc > 1 && std::string(argv[1]) == "--partial") {
    partial = true;
    --argc;
    ++argv;
  }
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: linktest_check [--lost RANK | --partial] DIRECTORY RANKS BYTES...\n");
    return 3;
  }
  std::vector<std::uint64_t> sizes;
  for (int i = 3; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  check(argv[1], std::strtoul(argv[2], nullptr, 10), sizes);
  return problems == 0 ? 0 : 1;
}
