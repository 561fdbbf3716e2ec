// SPDX-License-Identifier: BSD-3-Clause
// command.h - heddle linktest --simulate.
#pragma once
#include "linktest/options.h"

namespace heddle::linktest {

/// Simulates a link test of chosen.ranks ranks, one of each host measuring, prints what it finds
/// and returns slow_part or success. Throws error when hosts, rails or faults do not fit the
/// network.
int simulate(const options& chosen);

}  // namespace heddle::linktest
