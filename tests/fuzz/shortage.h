// SPDX-License-Identifier: BSD-3-Clause
// shortage.h - a rank that runs out of descriptors or memory, and gets some again.
#pragma once
#include "fuzz/plan.h"

namespace heddle::fuzz {

/// From now on this process gets no more than the settings ulimit_descriptors and ulimit_megabytes
/// leave it beyond what it has.
void begin_shortage(const plan& p, int rank);

/// It gets all again that it could have before.
void end_shortage();

}  // namespace heddle::fuzz
