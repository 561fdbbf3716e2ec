// SPDX-License-Identifier: BSD-3-Clause
// diagnose.h - from measured times to what is slow: fit, suspects, retests, verdicts.
#pragma once
#include <span>

#include "linktest/diagnose/observation.h"
#include "linktest/diagnose/retests.h"
#include "linktest/diagnose/verdict.h"

namespace heddle::linktest {

/// Finds slow nodes, rails, links and contention.
///
/// What stands out from an additive model of the times is suspected. With `again` each suspect is
/// measured once more: a pair alone and in its step, then the nodes at its ends alone with partners
/// that nobody suspects, each way and over each rail; only what is slow again gets a verdict.
/// Without it (empty) the verdicts are what the first measurement says.
/// Memory: O(observations + nodes). One thread; `again` is called from it.
[[nodiscard]] diagnosis diagnose(std::span<const observation> seen, const surroundings& where,
                                 const prober& again);

}  // namespace heddle::linktest
