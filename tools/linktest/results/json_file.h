// SPDX-License-Identifier: BSD-3-Clause
// json_file.h - the results as one JSON document, and back.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// Version of the document's structure; rises when a reader would have to change.
inline constexpr int json_schema_version = 3;

/// The whole document. Values that were not measured are null; seconds and bytes per second.
[[nodiscard]] std::string to_json(const run_facts& facts, const results& all);
/// The same without matrices: as long for any number of ranks, but for the names of their hosts.
[[nodiscard]] std::string to_json_summary(const run_facts& facts, const results& all);

/// All facts and how the run went, without numbers that were measured.
[[nodiscard]] nlohmann::ordered_json facts_as_json(const run_facts& facts, const results& all);
/// The facts that facts_as_json() has written. Throws error: this is something else.
[[nodiscard]] run_facts facts_from_json(const nlohmann::ordered_json& document);

/// Where a rank runs, as in the document, and back. The latter throws as json does.
[[nodiscard]] nlohmann::ordered_json as_json(const rank_place& place);
[[nodiscard]] rank_place place_from_json(const nlohmann::ordered_json& told);

/// How many ordered pairs of each size that run was to measure; none: all. Throws as json does.
[[nodiscard]] std::optional<std::uint64_t> sample_from_json(const nlohmann::ordered_json& document);

/// Numbers with NaN as null, each the shortest that is the same in single precision.
[[nodiscard]] nlohmann::ordered_json all_numbers(std::span<const double> values);

/// A run from a document that to_json() has written, now or in an earlier version: what that did
/// not have is not known. Throws error that says what is wrong with it.
[[nodiscard]] run_record from_json(std::string_view text);

}  // namespace heddle::linktest
