// SPDX-License-Identifier: BSD-3-Clause
// log.h - messages for people, each of a level and a subsystem, to stderr or to the program.
//
// A line that is not wanted costs a load and a branch; nothing of it is formatted. One that is
// costs memory and a system call, so what happens often is told at level debug or not at all.
#pragma once
#include <fmt/format.h>
#include <heddle/log.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::log {

enum class level : std::uint8_t { debug, info, warn, error, off };

/// What a line is about.
enum class subsystem : std::uint8_t {
  job,       ///< joining, the launcher, settings, the end
  wire,      ///< backends, routes, connections
  memory,    ///< regions, mappings, registrations
  progress,  ///< executors, helpers, lanes
  peer,      ///< peers that are lost or leave
};
inline constexpr std::size_t subsystems = 5;

/// A row of the table that HEDDLE_LOG, docs/guide/observe.md and the lines themselves go by.
struct subsystem_row {
  std::string_view name, help;
};
[[nodiscard]] const std::array<subsystem_row, subsystems>& subsystem_table() noexcept;

using levels = std::array<level, subsystems>;
/// What HEDDLE_LOG means: a level for all, SUBSYSTEM=LEVEL for one, or several of these with commas
/// between them, of which later ones win. What is not named stays at warn. Nothing: it is no such
/// text.
[[nodiscard]] std::optional<levels> parse_levels(std::string_view text) noexcept;

/// Sets the levels by the value of HEDDLE_LOG and the rank that lines start with (-1: none yet).
/// Until then: warn, no rank. Any thread. Throws heddle::error on a text that is no levels.
void open(std::string_view levels, int rank);

/// Whether a line of this level would be written. Any thread.
[[nodiscard]] bool enabled(subsystem about, level wanted) noexcept;

/// Writes one line, whatever the levels. Any thread; lines do not mix.
void write(subsystem about, level severity, std::string_view line) noexcept;

template <class... Args>
void write_if(subsystem about, level severity, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(about, severity))
    write(about, severity, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void debug(subsystem about, fmt::format_string<Args...> text, Args&&... args) {
  write_if(about, level::debug, text, std::forward<Args>(args)...);
}
template <class... Args>
void info(subsystem about, fmt::format_string<Args...> text, Args&&... args) {
  write_if(about, level::info, text, std::forward<Args>(args)...);
}
template <class... Args>
void warn(subsystem about, fmt::format_string<Args...> text, Args&&... args) {
  write_if(about, level::warn, text, std::forward<Args>(args)...);
}
template <class... Args>
void error(subsystem about, fmt::format_string<Args...> text, Args&&... args) {
  write_if(about, level::error, text, std::forward<Args>(args)...);
}

}  // namespace heddle::log
