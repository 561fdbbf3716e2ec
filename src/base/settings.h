// SPDX-License-Identifier: BSD-3-Clause
// settings.h - the values of all HEDDLE_* settings, read once when a world starts: a member for
// each of the core's, and what backends read for themselves by name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/checks.h"
#include "base/setting.h"

namespace heddle {

/// About four wakes of a sleeping thread on a virtual machine.
inline constexpr std::uint64_t default_spin_us = 100;
/// What src/backends/CMakeLists.txt says.
[[nodiscard]] const char* default_backends() noexcept;

/// Values of all settings. Adding one of the core's: a member here, a row in settings.cpp.
struct settings {
  std::string backends = default_backends();  ///< HEDDLE_BACKENDS: best first, commas between
  std::string module_path;                    ///< HEDDLE_MODULE_PATH: folders, colons between
  std::string host;                           ///< HEDDLE_HOST: overrides the host identity
  std::string log = "warn";     ///< HEDDLE_LOG: off | error | warn | info | debug, wire=debug ...
  std::size_t eager_bytes = 0;  ///< HEDDLE_EAGER_BYTES: larger messages rendezvous; 0: backend's
  std::size_t stripe_bytes = 256 * 1024;   ///< HEDDLE_STRIPE_BYTES: over all rails from here on
  std::size_t credit_bytes = 1024 * 1024;  ///< HEDDLE_CREDIT_BYTES: unexpected, per peer and lane
  std::size_t unexpected_bytes = std::size_t{16} << 20;  ///< HEDDLE_UNEXPECTED_BYTES: per lane
  std::size_t records = 4096;               ///< HEDDLE_RECORDS: operations in flight per lane
  std::uint64_t peer_timeout_ms = 30'000;   ///< HEDDLE_PEER_TIMEOUT_MS
  std::uint64_t join_timeout_ms = 120'000;  ///< HEDDLE_JOIN_TIMEOUT_MS: for late ranks; 0: no limit
  std::uint64_t linger_ms = 2'000;          ///< HEDDLE_LINGER_MS: flushing at the world's end
  std::uint64_t spin_us = default_spin_us;  ///< HEDDLE_SPIN_US: polling before a wait sleeps
  std::string progress = "adaptive";    ///< HEDDLE_PROGRESS: inline | dedicated | idle | adaptive
  std::uint64_t executors = 1;          ///< HEDDLE_EXECUTORS: dedicated threads, or idle helpers
  std::string executor_cores = "near";  ///< HEDDLE_EXECUTOR_CORES: near | none | 2,3,...
  std::string checks = checking ? "on" : "off";  ///< HEDDLE_CHECKS: off | on: look for misuse
  std::string rcache = "auto";        ///< HEDDLE_RCACHE: auto | hooks | off: keep registrations
  std::string mem_hooks = "on";       ///< HEDDLE_MEM_HOOKS: on | off: hook munmap and the like
  std::size_t rcache_entries = 1024;  ///< HEDDLE_RCACHE_ENTRIES: per device queue
  std::size_t rcache_bytes = 0;       ///< HEDDLE_RCACHE_BYTES: per device queue; 0: no limit
  std::uint64_t backstop_ms = 128;    ///< HEDDLE_BACKSTOP_MS: a sleeper looks by itself; 0: never
  std::string trace;                  ///< HEDDLE_TRACE: a file, %r for the rank; empty: none
  std::uint64_t trace_sample = 1;     ///< HEDDLE_TRACE_SAMPLE: one operation in so many
  std::uint64_t trace_events = 1 << 16;  ///< HEDDLE_TRACE_EVENTS: kept of each thread
  std::uint64_t strict = 0;              ///< HEDDLE_STRICT: 1: an unknown HEDDLE_* name is an error
  std::string faults;  ///< HEDDLE_FAULTS: for tests: what goes wrong, see backends/faults/faults.h
  /// HEDDLE_* variables that are not the core's, as they were given: see text_of(), number_of().
  std::map<std::string, std::string> others = {};
};

/// The value of a backend's own setting. Throws error when what was given is not accepted.
[[nodiscard]] std::string text_of(const setting& of, const settings& all);
[[nodiscard]] std::uint64_t number_of(const setting& of, const settings& all);

using environment = std::map<std::string, std::string>;
/// The HEDDLE_* variables of this process, by name.
[[nodiscard]] environment this_environment();

/// What `given` does not set stays as in `defaults`. Throws heddle::error naming the setting, the
/// bad value and what would be accepted. Backends' values go unread into settings::others.
[[nodiscard]] settings read_settings(const environment& given = this_environment(),
                                     const settings& defaults = {});

/// A setting of the core's and its value in `from`.
struct setting_value {
  const setting* what;
  std::string value;
};
/// All of the core's, in the order of `heddle info`.
[[nodiscard]] std::vector<setting_value> core_settings(const settings& from = {});

}  // namespace heddle
