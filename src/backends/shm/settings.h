// SPDX-License-Identifier: BSD-3-Clause
// settings.h - what users may choose of shm.
#pragma once
#include <array>

#include "base/setting.h"

namespace heddle::transport::shm {

inline constexpr setting native_copies = choice_setting(
    "HEDDLE_SHM_CMA", "auto", "copy straight out of and into other processes", "auto | off");
inline constexpr setting ring_size =
    bytes_setting("HEDDLE_SHM_RING_BYTES", "256K",
                  "size of a message ring, per pair, lane and direction", 4 * kib, gib);

inline constexpr std::array own_settings{native_copies, ring_size};

}  // namespace heddle::transport::shm
