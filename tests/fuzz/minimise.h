// SPDX-License-Identifier: BSD-3-Clause
// minimise.h - cuts a failing plan down to what it takes to fail.
#pragma once
#include <functional>

#include "fuzz/plan.h"

namespace heddle::fuzz {

/// Removes steps, settings, lanes, areas, ranks and threads, and makes sizes small, for as long as
/// `fails` says that what is left still does. Every plan that it is asked about keeps the rules of
/// why_not(). Asks until nothing more can go, or `over` says that it has taken long enough.
[[nodiscard]] plan minimise(plan failing, const std::function<bool(const plan&)>& fails,
                            const std::function<bool()>& over);

}  // namespace heddle::fuzz
