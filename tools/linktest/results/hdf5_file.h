// SPDX-License-Identifier: BSD-3-Clause
// hdf5_file.h - the results as an HDF5 file: one [N x N] dataset per size and metric.
#pragma once
#include <string>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// Version of the file's structure; rises when a reader would have to change.
inline constexpr int hdf5_schema_version = 3;

/// Writes the file, replacing one that is there. Throws error naming the path and what failed.
/// docs/guide/result-files.md describes its structure.
void write_hdf5(const std::string& path, const run_facts& facts, const results& all);

/// A run from a file that write_hdf5() has written. Throws error naming the path and what is wrong.
[[nodiscard]] run_record read_hdf5(const std::string& path);

}  // namespace heddle::linktest
