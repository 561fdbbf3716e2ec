// SPDX-License-Identifier: BSD-3-Clause
// record.h - one measured figure as it is written to and read from files.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/statistics.h"

namespace heddle::bench {

/// The names of the fields in the file are the names here.
struct record {
  std::string benchmark;  ///< the command: latency, mt-rate, gups ...
  std::string op;         ///< put, get, fetch-add, am, tag; sender, overlap, get-mapped ...
  std::string backend;    ///< shm, tcp ...
  std::string library;    ///< heddle, ucx, bare; "heddle/ucx" for a ratio of medians
  int ranks = 2;
  int threads = 1;
  std::uint64_t bytes = 8;
  std::string metric;  ///< what the number is: one-way, rate, ratio, scaling ...
  std::string unit;
  double median = 0;  ///< of the rounds; where `metric` ends in _mean, the mean of the runs
  double p99 = 0;  ///< latency: median of the rounds' p99 of single operations, where known; else
                   ///< of the rounds
  double ci95_low = 0;
  double ci95_high = 0;
  int runs = 0;            ///< rounds
  std::string setup = {};  ///< what else was set: "64 in flight, plain buffers"; empty: nothing
  std::vector<double> rounds = {};  ///< each round's figure, where `compare` is to judge them
  friend bool operator==(const record&, const record&) = default;
};

/// Sets the five statistical fields from one figure per round.
void set_statistics(record& of, const summary& rounds);

/// An array of objects, each with exactly the fields of record, in their order; without `setup` and
/// `rounds` where there are none.
[[nodiscard]] std::string to_json(const std::vector<record>& records);

/// The inverse. Throws std::runtime_error saying what is missing or of the wrong type.
[[nodiscard]] std::vector<record> records_from_json(const std::string& text);

/// Writes or replaces the file. Throws std::runtime_error naming it.
void write_records(const std::filesystem::path& file, const std::vector<record>& records);
/// Throws std::runtime_error naming the file.
[[nodiscard]] std::vector<record> read_records(const std::filesystem::path& file);

}  // namespace heddle::bench
