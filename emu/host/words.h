// SPDX-License-Identifier: BSD-3-Clause
// words.h - what a device says to people: lines on stderr, and the last one kept.
#pragma once

namespace host {

/// The name that each line begins with; every device defines its own.
extern const char* const device_name;

/// A line on stderr that begins with the device's name.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);
/// The same, but only kept for last_words().
[[gnu::format(printf, 1, 2)]] void remember(const char* format, ...);
/// The last such line of this thread, cut to 119 characters.
[[nodiscard]] const char* last_words() noexcept;

}  // namespace host
