// SPDX-License-Identifier: BSD-3-Clause
// writing.h - the files of a run, in the formats that were asked for.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "linktest/results/output.h"
#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// The file of one of file_formats(), whole. Throws error.
void write_as(const std::string& format, const std::string& path, const run_facts& facts,
              const results& all);

/// Writes "linktest.<format>" for each format of facts.chosen and, where asked for, a set of SION
/// files for each size; returns the paths, of a set its first. Files of an earlier run that readers
/// would take for this one's are gone then. Throws error; files that were written before stay.
[[nodiscard]] std::vector<std::string> write_files(output_directory& into, const run_facts& facts,
                                                   const results& all);

/// Throws error when what one of the formats needs is not there: to be known before hours of
/// measuring.
void prove_formats(std::span<const std::string> formats);

/// Removes the files that an earlier run left in formats other than `written`.
void drop_other_formats(const output_directory& from, std::span<const std::string> written);

}  // namespace heddle::linktest
