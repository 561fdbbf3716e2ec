// SPDX-License-Identifier: BSD-3-Clause
// json_file.h - what is in a JSON document of results, and how it is read back.
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

/// All facts and how the run went, without numbers that were measured.
[[nodiscard]] nlohmann::ordered_json facts_as_json(const run_facts& facts, const results& all);
/// The facts that facts_as_json() has written. Throws error: this is something else.
[[nodiscard]] run_facts facts_from_json(const nlohmann::ordered_json& document);

/// Where a rank runs, as in the document, and back. The latter throws as json does.
[[nodiscard]] nlohmann::ordered_json as_json(const rank_place& place);
[[nodiscard]] rank_place place_from_json(const nlohmann::ordered_json& told);

/// How many ordered pairs of each size that run was to measure; none: all. Throws as json does.
[[nodiscard]] std::optional<std::uint64_t> sample_from_json(const nlohmann::ordered_json& document);

/// The shortest number that is the same in single precision; null for NaN.
[[nodiscard]] nlohmann::ordered_json number(double value);
[[nodiscard]] nlohmann::ordered_json spread_as_json(const spread& s);
[[nodiscard]] nlohmann::ordered_json all_numbers(std::span<const double> values);

/// A run from a document that write_json() has written, now or in an earlier version: what that did
/// not have is not known. Throws error that says what is wrong with it.
[[nodiscard]] run_record from_json(std::string_view text);

}  // namespace heddle::linktest
