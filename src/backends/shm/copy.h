// SPDX-License-Identifier: BSD-3-Clause
// copy.h - puts and gets straight into another process's memory, by the kernel.
#pragma once
#include "backends/shm/peer_process.h"
#include "transport/device.h"

namespace heddle::transport::shm {

/// Does a put or a get. Checks the region's generation, rights and bounds first.
/// done, out_of_bounds, denied, withdrawn, peer_lost, or unsupported when the kernel forbids it.
[[nodiscard]] status copy_directly(const op& what, peer_process& peer) noexcept;

}  // namespace heddle::transport::shm
