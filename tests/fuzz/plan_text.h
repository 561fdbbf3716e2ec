// SPDX-License-Identifier: BSD-3-Clause
// plan_text.h - a plan as text, a line per thing: what people read and the ranks are given.
#pragma once
#include <string>
#include <string_view>

#include "fuzz/plan.h"

namespace heddle::fuzz {

/// What print() of the same plan gives is read() back to an equal plan.
[[nodiscard]] std::string print(const plan& p);
[[nodiscard]] std::string print(const step& s);
/// Throws heddle::error naming the line that cannot be understood.
[[nodiscard]] plan read(const std::string& text);

[[nodiscard]] std::string_view name_of(verb v);
[[nodiscard]] std::string_view name_of(form f);
[[nodiscard]] std::string_view name_of(mistake m);

}  // namespace heddle::fuzz
