// SPDX-License-Identifier: BSD-3-Clause
// settings.h - the SOFTHCA_* environment variables, all of them in one table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "host/knobs.h"

namespace hca {

/// One row of the table each. Those before `mode` belong to the machine: the process that creates
/// it decides, and a process that asks for something else is turned away.
enum class knob : std::uint8_t {
  devices,
  ports,
  link,
  mode,
  seed,
  node,
  thread_domains,
  cqes,
  locked,
  odp,
  tell,
  count
};
inline constexpr std::size_t knobs = static_cast<std::size_t>(knob::count);
inline constexpr std::size_t machine_knobs = static_cast<std::size_t>(knob::mode);

enum class link_layer : std::uint64_t { ib, roce };
enum class mode : std::uint64_t { in_line, engine, chaos };
/// What stderr hears.
enum class telling : std::uint64_t { nothing, errors, counts };

using settings = host::knob_values<knob>;
using asked_settings = host::asked_knobs<knob>;

/// Reads the environment. False: a value makes no sense, and stderr says which.
[[nodiscard]] bool read_settings(asked_settings& into);

/// Takes over the machine's own values. False: the user asked for others, and stderr says which.
[[nodiscard]] bool adopt(asked_settings& mine, const settings& machines);

[[nodiscard]] std::string job_name();

}  // namespace hca
