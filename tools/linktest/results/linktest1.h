// SPDX-License-Identifier: BSD-3-Clause
// linktest1.h - results in the layout of LinkTest 1.x: a stream per rank in a SION file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "linktest/results/run_facts.h"
#include "linktest/results/sion_file.h"

namespace heddle::linktest {

/// The streams, by rank, of one message size: what LinkTest 1.2 would have written after a run that
/// measured these median times. What was not measured is 0, as is what LinkTest 1.x adds by testing
/// its slowest pairs again.
[[nodiscard]] std::vector<std::string> to_linktest1(const run_facts& facts, const results& all,
                                                    std::size_t size_index);
/// What the file of such streams is called.
[[nodiscard]] std::string linktest1_name(std::uint64_t bytes);

/// A run from the streams of a file of LinkTest 1.x. Each pair has one value, so its sketch has no
/// spread. Kernel and op are unknown where a file of ours says nothing. Throws error: these streams
/// are something else, or end too early.
[[nodiscard]] run_record from_linktest1(const sion_content& file);

}  // namespace heddle::linktest
