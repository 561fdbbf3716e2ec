// SPDX-License-Identifier: BSD-3-Clause
// knobs.h - a device's table of environment variables, and their values.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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

/// The values in force, by an enumeration that ends with `count`. Plain numbers, so that a
/// machine's file can hold them.
template <class Knob>
struct knob_values {
  std::array<std::uint64_t, static_cast<std::size_t>(Knob::count)> values{};

  [[nodiscard]] std::uint64_t operator[](Knob k) const noexcept {
    return values[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] bool on(Knob k) const noexcept { return (*this)[k] != 0; }
  template <class Choice>
  [[nodiscard]] Choice choice(Knob k) const noexcept {
    return static_cast<Choice>((*this)[k]);
  }
};

template <class Knob>
struct asked_knobs {
  knob_values<Knob> now;
  std::array<bool, static_cast<std::size_t>(Knob::count)> by_user{};  ///< not a default
};

/// Takes over the machine's own values, one for each row. False: the user asked for others, and
/// stderr says which.
[[nodiscard]] bool adopt(std::span<const knob_row> rows, const char* prefix,
                         std::span<std::uint64_t> mine, std::span<const bool> by_user,
                         std::span<const std::uint64_t> machines);
/// The machine to join: the variable JOB with this prefix.
[[nodiscard]] std::string job_name(const char* prefix);

}  // namespace host
