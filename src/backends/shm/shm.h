// SPDX-License-Identifier: BSD-3-Clause
// shm.h - peers on the same host, through memory both sides map.
#pragma once
#include "transport/device.h"

namespace heddle::transport {

[[nodiscard]] const factory& shm_factory() noexcept;

}  // namespace heddle::transport
