// SPDX-License-Identifier: BSD-3-Clause
// settings.h - the SOFTTOFU_* environment variables, all of them in one table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "host/knobs.h"

namespace tofu {

/// One row of the table each. Those before `mode` belong to the machine: the process that creates
/// it decides, and a process that asks for something else is turned away.
enum class knob : std::uint8_t {
  shape,
  ppn,
  toq,
  mrq,
  cqs,
  stags,
  atomics,
  armw_scope,
  hidden,
  model,
  mode,
  seed,
  batch,
  node,
  page,
  dereg,
  size_errors,
  get_errors,
  stride_notices,
  strict,
  create_us,
  post_ns,
  latency_ns,
  count
};
inline constexpr std::size_t knobs = static_cast<std::size_t>(knob::count);
inline constexpr std::size_t machine_knobs = static_cast<std::size_t>(knob::mode);

enum class mode : std::uint64_t { in_line, lazy, engine, chaos };
enum class atomics : std::uint64_t { armw, cpu };
enum class timing_model : std::uint64_t { off, cpu, virtual_clock };
enum class armw_scope : std::uint64_t { cq, tni, node };

inline constexpr std::uint64_t any_node = ~std::uint64_t{0};

using settings = host::knob_values<knob>;
using asked_settings = host::asked_knobs<knob>;

/// Reads the environment. False: a value makes no sense, and stderr says which.
[[nodiscard]] bool read_settings(asked_settings& into);

/// Takes over the machine's own values. False: the user asked for others, and stderr says which.
[[nodiscard]] bool adopt(asked_settings& mine, const settings& machines);

[[nodiscard]] std::string job_name();
/// One line per variable: name, default, meaning.
[[nodiscard]] std::string help_text();

}  // namespace tofu
