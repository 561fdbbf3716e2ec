// SPDX-License-Identifier: BSD-3-Clause
// rank.h - one rank's part of a plan: calls Heddle as the plan says, writes to the board what came.
#pragma once
#include "fuzz/board.h"
#include "fuzz/plan.h"

namespace heddle::fuzz {

/// Runs in a process of its own, which the launcher started. The exit status: 0 unless set-up
/// threw, which the board tells of.
[[nodiscard]] int run_rank(const plan& p, const board& facts);

}  // namespace heddle::fuzz
