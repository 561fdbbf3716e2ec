// SPDX-License-Identifier: BSD-3-Clause
// setting.h - one HEDDLE_* variable: its name, what it accepts, and how its value reads and prints.
//
// The core has a table of these in settings.cpp, and each backend has one in its folder, which its
// factory names: what lists, checks or guesses settings knows them all and no backend by name.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

/// HEDDLE_SPIN_US=auto: what wake_cost.h says of this host.
inline constexpr std::uint64_t automatic = UINT64_MAX;

/// Make one by the functions below.
struct setting {
  enum class kind_t : std::uint8_t {
    text,
    list,
    cores,
    choice,
    bytes,
    number,
    number_or_auto,
    log
  };
  kind_t kind = kind_t::text;
  std::string_view name;     ///< HEDDLE_..., of a backend x HEDDLE_X_...
  std::string_view help;     ///< a line for people
  std::string_view initial;  ///< where nobody sets it; of the core's: what struct settings says
  std::string_view accepts;  ///< in words; for a choice, the choices with " | " between them
  std::uint64_t least = 0, most = 0;  ///< numbers and bytes

  /// Whether `value` can be its value.
  [[nodiscard]] bool takes(const std::string& value) const;
  /// Throws error that names the setting, the value and what is accepted, unless takes(value).
  void check(const std::string& value) const;
  /// For numbers and bytes, of a value that it takes.
  [[nodiscard]] std::uint64_t number_in(const std::string& value) const;
  /// The same backwards: what people would write.
  [[nodiscard]] std::string print(std::uint64_t number) const;
  [[nodiscard]] bool is_number() const noexcept {
    return kind >= kind_t::bytes && kind <= kind_t::number_or_auto;
  }
};

[[nodiscard]] constexpr setting text_setting(std::string_view name, std::string_view initial,
                                             std::string_view help) {
  return {setting::kind_t::text, name, help, initial, "any text"};
}
/// `choices` with " | " between them.
[[nodiscard]] constexpr setting choice_setting(std::string_view name, std::string_view initial,
                                               std::string_view help, std::string_view choices) {
  return {setting::kind_t::choice, name, help, initial, choices};
}
[[nodiscard]] constexpr setting bytes_setting(std::string_view name, std::string_view initial,
                                              std::string_view help, std::uint64_t least,
                                              std::uint64_t most) {
  constexpr std::string_view accepts = "bytes, with K, M or G for powers of 1024";
  return {setting::kind_t::bytes, name, help, initial, accepts, least, most};
}
[[nodiscard]] constexpr setting number_setting(std::string_view name, std::string_view initial,
                                               std::string_view help, std::uint64_t least,
                                               std::uint64_t most) {
  return {setting::kind_t::number, name, help, initial, "a whole number", least, most};
}

/// "1K", "128k", "4M", "1G" or plain bytes -> bytes (powers of 1024). Throws heddle::error.
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text);

inline constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

}  // namespace heddle
