// SPDX-License-Identifier: BSD-3-Clause
// verdict_json.h - a diagnosis in the results' JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "linktest/diagnose/verdict.h"

namespace heddle::linktest {

/// {"what", "node", "peer", "rail", "cable", "step", "factor", "confidence", "retested",
/// "evidence", "or_else"}; what does not apply is null.
[[nodiscard]] nlohmann::ordered_json as_json(const verdict& v);
/// {"verdicts": [as above], "coverage": {...}}
[[nodiscard]] nlohmann::ordered_json as_json(const diagnosis& d);
/// What as_json() has written. Throws a JSON exception, or error, when it is something else.
[[nodiscard]] diagnosis diagnosis_from(const nlohmann::ordered_json& in);

}  // namespace heddle::linktest
