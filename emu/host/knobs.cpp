// knobs.cpp - see knobs.h.
#include "host/knobs.h"

#include <cstdlib>

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

}  // namespace host
