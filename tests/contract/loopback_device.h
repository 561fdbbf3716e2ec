// SPDX-License-Identifier: BSD-3-Clause
// loopback_device.h - the contract in its plainest form: one process, one mutex.
//
// It proves that the suite can be passed, and it is the device to read first before writing one.
#pragma once
#include <memory>

#include "transport/device.h"

namespace heddle::test {

/// A device of the job that `where.job_secret` names, whose ranks all live in this process: it does
/// all there is at once, puts and gets without the peer, atomics that the CPU sees.
[[nodiscard]] std::unique_ptr<transport::device> open_loopback(const transport::context& where);
/// Its puts, gets and atomics wait until the peer polls, in order, and the CPU does not see its
/// atomics.
[[nodiscard]] std::unique_ptr<transport::device> open_served_loopback(
    const transport::context& where);
/// Sends, and receives into memory that was posted to it; no more.
[[nodiscard]] std::unique_ptr<transport::device> open_receiving_loopback(
    const transport::context& where);

}  // namespace heddle::test
