// hdf5_file.h - the results as an HDF5 file: one [N x N] dataset per size and metric.
#pragma once
#include <string>

#include "linktest/run_facts.h"

namespace heddle::linktest {

/// Version of the file's structure; rises when a reader would have to change.
inline constexpr int hdf5_schema_version = 1;

/// Writes the file, replacing one that is there. Throws error naming the path and what failed.
///
///   /                 attributes: format, versions, times, every option, complete, ranks, routes
///   /hosts            [N] text, by rank
///   /sizes            [S] message sizes in bytes
///   /size_<bytes>/    time_min, time_median, time_max (s), bandwidth (B/s): [N x N] doubles,
///                     [initiator][peer], NaN where nothing was measured; attributes units and
///                     definition. failed: [N x N], 1 where a pair failed. state: [N x N], why.
void write_hdf5(const std::string& path, const run_facts& facts, const results& all);

}  // namespace heddle::linktest
