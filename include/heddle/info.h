// SPDX-License-Identifier: BSD-3-Clause
// info.h - what `heddle info` shows without joining a job: the version, the settings, the host, and
// what a running job waits for.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Of the library that is loaded, like "0.1.0".
[[nodiscard]] std::string_view version() noexcept;

/// One HEDDLE_* setting: what it is, its value as text, and where that came from.
struct setting_row {
  std::string name, value, origin, help;  ///< origin: "default" or "environment"
};

/// All settings, as they stand in this process's environment. Throws error: a value cannot be
/// understood, or HEDDLE_STRICT is 1 and a HEDDLE_* name is unknown.
[[nodiscard]] std::vector<setting_row> list_settings();

/// The names of the backends there are, in the order in which they are tried where HEDDLE_BACKENDS
/// is not set, and then those that are not tried unless it names them. One may still be unusable
/// here: world::describe() says why.
[[nodiscard]] std::vector<std::string> list_backends();

/// From ringing for a thread that sleeps on another core until it runs, in nanoseconds: the median
/// of a few dozen. Measured by the first call, which takes some milliseconds on two threads of its
/// own, and remembered. 0: it could not be measured (no descriptors, no threads). Any thread.
[[nodiscard]] std::uint64_t wake_cost_ns();

/// What the worlds of process `pid`, and of the processes it has started, wait for: a JSON object
/// each, by rank (docs/guide/hanging.md). Takes no part in the job, needs no progress in it, and
/// works for processes of the same user on the same host; a process that does not answer within 5 s
/// is said to. Throws error: there is no such process, or it has no world. Any thread.
[[nodiscard]] std::vector<std::string> ask_worlds(int pid);

}  // namespace heddle
