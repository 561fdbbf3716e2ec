// SPDX-License-Identifier: BSD-3-Clause
// host_process.h - what groups of ranks need of the process they are started from.
#pragma once
#include "run/event_loop.h"
#include "run/open_files.h"
#include "run/signals.h"

namespace heddle::tools {

/// All outlive the groups.
struct host_process {
  event_loop& loop;
  const signal_catcher& signals;
  const open_files& limits;
};

}  // namespace heddle::tools
