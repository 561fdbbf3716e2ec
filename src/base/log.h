// log.h - messages for people, to stderr, each line led by the rank. Set-up and failures only.
//
// Never on a hot path: a line costs a lock and a system call.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace heddle::log {

enum class level { debug, info, warn, error, off };

/// Sets the level by its HEDDLE_LOG name and the rank that lines start with (-1: none yet).
/// Until then: warn, no rank. Any thread. Throws heddle::error on an unknown level name.
void open(std::string_view level_name, int rank);

/// Whether a line of this level would be written. Any thread.
[[nodiscard]] bool enabled(level wanted) noexcept;

/// Writes one line. Any thread; lines do not mix.
void write(level severity, std::string_view line) noexcept;

template <class... Args>
void write_if(level severity, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(severity)) write(severity, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
  write_if(level::debug, text, std::forward<Args>(args)...);
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
  write_if(level::info, text, std::forward<Args>(args)...);
}
template <class... Args>
void warn(fmt::format_string<Args...> text, Args&&... args) {
  write_if(level::warn, text, std::forward<Args>(args)...);
}
template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
  write_if(level::error, text, std::forward<Args>(args)...);
}

}  // namespace heddle::log
