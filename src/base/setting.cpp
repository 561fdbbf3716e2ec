// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting.h"

#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/log.h"

namespace heddle {
namespace {

constexpr std::uint64_t most_cores = 4096;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

std::uint64_t unit_of(char letter) noexcept {
  switch (letter) {
    case 'k':
    case 'K':
      return kib;
    case 'm':
    case 'M':
      return mib;
    case 'g':
    case 'G':
      return gib;
    default:
      return 1;
  }
}

std::optional<std::uint64_t> try_parse_bytes(std::string_view text) {
  const std::uint64_t unit = text.empty() ? 1 : unit_of(text.back());
  if (unit != 1) text.remove_suffix(1);
  const auto number = parse_number(text);
  if (!number || *number > UINT64_MAX / unit) return {};
  return *number * unit;
}

std::string print_bytes(std::uint64_t bytes) {
  if (bytes == 0) return "0";
  if (bytes % gib == 0) return fmt::format("{}G", bytes / gib);
  if (bytes % mib == 0) return fmt::format("{}M", bytes / mib);
  if (bytes % kib == 0) return fmt::format("{}K", bytes / kib);
  return fmt::format("{}", bytes);
}

// Whether `holds` is true of each part of `list`.
template <class Holds>
bool each_part(std::string_view list, std::string_view separator, Holds&& holds) {
  for (;;) {
    const std::size_t end = list.find(separator);
    if (!holds(list.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    list.remove_prefix(end + separator.size());
  }
}

bool is_word(std::string_view part) {
  return !part.empty() && part.find_first_of(" \t") == std::string_view::npos;
}

bool is_core(std::string_view part) {
  const auto number = parse_number(part);
  return number && *number < most_cores;
}

std::optional<std::uint64_t> parsed(const setting& s, const std::string& value) {
  if (s.kind == setting::kind_t::number_or_auto && value == "auto") return automatic;
  const auto number =
      s.kind == setting::kind_t::bytes ? try_parse_bytes(value) : parse_number(value);
  if (!number || *number < s.least || *number > s.most) return {};
  return number;
}

std::string accepted_by(const setting& s) {
  if (!s.is_number()) return std::string(s.accepts);
  return fmt::format("{}, from {} to {}", s.accepts, s.print(s.least), s.print(s.most));
}

}  // namespace

bool setting::takes(const std::string& value) const {
  switch (kind) {
    case kind_t::text:
      return true;
    case kind_t::list:
      return each_part(value, ",", is_word);
    case kind_t::cores:
      return value == "near" || value == "none" || each_part(value, ",", is_core);
    case kind_t::choice:
      return !each_part(accepts, " | ", [&](std::string_view one) { return one != value; });
    case kind_t::log:
      return log::parse_levels(value).has_value();
    default:
      return parsed(*this, value).has_value();
  }
}

void setting::check(const std::string& value) const {
  if (!takes(value)) fail("{}={}: accepted is {}", name, value, accepted_by(*this));
}

std::uint64_t setting::number_in(const std::string& value) const {
  check(value);
  return *parsed(*this, value);
}

std::string setting::print(std::uint64_t number) const {
  if (kind == kind_t::number_or_auto && number == automatic) return "auto";
  return kind == kind_t::bytes ? print_bytes(number) : fmt::format("{}", number);
}

std::uint64_t parse_bytes(const std::string& text) {
  const auto found = try_parse_bytes(text);
  if (!found) fail("'{}' is not a size; write bytes, with K, M or G for powers of 1024", text);
  return *found;
}

}  // namespace heddle
