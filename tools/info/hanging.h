// SPDX-License-Identifier: BSD-3-Clause
// hanging.h - `heddle info --pid`: what the worlds of a running process wait for.
#pragma once

namespace heddle::tools {

/// Prints what each world of process `pid`, and of what it has started, says. Throws error: there
/// is none.
void print_what_waits(int pid, bool as_data);

/// Prints what these have counted, as Prometheus reads it. Throws error: there is none.
void print_metrics(int pid);

}  // namespace heddle::tools
