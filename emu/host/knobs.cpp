// SPDX-License-Identifier: BSD-3-Clause
// knobs.cpp - see knobs.h.
#include "host/knobs.h"

#include <cstdlib>

#include "host/words.h"

namespace host {

std::optional<std::uint64_t> parse_number(const char* text) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 0);
  if (*text < '0' || *text > '9' || *end != '\0') return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_choice(std::string_view choices, std::string_view text) {
  for (std::uint64_t index = 0;; ++index) {
    const std::size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return index;
    if (bar == std::string_view::npos) return std::nullopt;
    choices.remove_prefix(bar + 1);
  }
}

std::optional<std::uint64_t> parse_knob(const knob_row& row, const char* text) {
  if (row.choices != nullptr) return parse_choice(row.choices, text);
  const auto value = parse_number(text);
  if (!value || *value < row.least || *value > row.most) return std::nullopt;
  return value;
}

bool adopt(std::span<const knob_row> rows, const char* prefix, std::span<std::uint64_t> mine,
           std::span<const bool> by_user, std::span<const std::uint64_t> machines) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (by_user[i] && mine[i] != machines[i]) {
      say("the machine \"%s\" runs with another %s%s; set %sJOB to have your own",
          job_name(prefix).c_str(), prefix, rows[i].name, prefix);
      return false;
    }
    mine[i] = machines[i];
  }
  return true;
}

std::string job_name(const char* prefix) {
  const char* const name = std::getenv((std::string(prefix) + "JOB").c_str());
  return name == nullptr || *name == '\0' ? "default" : name;
}

}  // namespace host
