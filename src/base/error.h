// SPDX-License-Identifier: BSD-3-Clause
// error.h - throwing heddle::error with a chain of reasons, outermost first.
#pragma once
#include <fmt/format.h>
#include <heddle/status.h>

#include <string>
#include <string_view>
#include <utility>

namespace heddle {

/// "EACCES (Permission denied)"; with the cure where there is one. Any thread.
[[nodiscard]] std::string errno_text(int code);

/// Throws error with the formatted text.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw error(fmt::format(text, std::forward<Args>(args)...));
}

/// Throws error: the formatted text, then what errno value `code` means. Takes the value, not
/// errno itself, since making the arguments may change errno.
template <class... Args>
[[noreturn]] void fail_errno(int code, fmt::format_string<Args...> text, Args&&... args) {
  throw error(fmt::format(text, std::forward<Args>(args)...) + ": " + errno_text(code));
}

/// Returns what `work` returns; an error thrown by it gets `what` put in front.
template <class Work>
decltype(auto) in_context(std::string_view what, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const error& inner) {
    fail("{}: {}", what, inner.what());
  }
}

}  // namespace heddle
