// knobs.h - a row of a device's table of environment variables, and how its value is read.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace host {

/// One environment variable, without its prefix.
struct knob_row {
  const char* name;
  const char* preset;
  const char* choices;  ///< "a|b|c", or nullptr: a number
  std::uint64_t least, most;
  const char* help;
};

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};

/// Decimal, octal (0...) or hexadecimal (0x...). No value: it is no number.
[[nodiscard]] std::optional<std::uint64_t> parse_number(const char* text);
/// Which one of "a|b|c" it is. No value: none.
[[nodiscard]] std::optional<std::uint64_t> parse_choice(std::string_view choices,
                                                        std::string_view text);
/// The one or the other as the row says, within its limits.
[[nodiscard]] std::optional<std::uint64_t> parse_knob(const knob_row& row, const char* text);

}  // namespace host
