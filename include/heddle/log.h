// SPDX-License-Identifier: BSD-3-Clause
// log.h - what Heddle says to people: lines of a level and a subsystem, on standard error or to the
// program. docs/guide/observe.md tells which there are, and how HEDDLE_LOG chooses among them.
#pragma once
#include <cstdint>
#include <string_view>

namespace heddle {

enum class log_level : std::uint8_t { debug, info, warn, error };

/// Gets a line without its end. `subsystem` is one of job, wire, memory, progress and peer. Both
/// texts are valid until it returns. On any thread, several at a time, with a lane held perhaps: it
/// must not call Heddle, and must not throw.
using log_handler = void (*)(void* context, log_level level, std::string_view subsystem,
                             std::string_view line) noexcept;

/// From now on lines go to `function` instead of standard error; null: there again. HEDDLE_LOG
/// still says which are made at all. For the whole process, before or after it has worlds. A line
/// that another thread is about to write may still go where it went before. Any thread.
void set_log_handler(log_handler function, void* context = nullptr) noexcept;

}  // namespace heddle
