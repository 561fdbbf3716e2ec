// SPDX-License-Identifier: BSD-3-Clause
// machine_store.h - the files in /dev/shm that are machines: making, finding and removing them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/members.h"
#include "host/os.h"

namespace host {

/// How a device's files are named and known. One constant of each device.
struct machine_kind {
  std::uint64_t magic;
  std::size_t layout;  ///< ends the names: libraries that lay files out differently do not meet
  /// How long the file has to be, as its own content says.
  std::size_t (*bytes_of)(const machine_head& head);
};

/// A machine's file, mapped.
struct machine_image {
  std::string path;
  owned_fd fd;
  mapping map;
  [[nodiscard]] machine_head& head() const noexcept {
    return *reinterpret_cast<machine_head*>(map.data());
  }
};

/// "/dev/shm/<device>.<user>.<job>.<layout>"
[[nodiscard]] std::string path_of_job(const machine_kind& kind, const std::string& job);

/// Empty: none there, or a foreign file.
[[nodiscard]] std::optional<machine_image> open_machine(const machine_kind& kind,
                                                        const std::string& path);

/// A machine that nobody has made yet: `bytes` long, of which the first `reserved` get memory now.
/// fill() writes what the device puts behind the head.
struct machine_plan {
  std::size_t bytes, reserved;
  std::function<void(machine_head&)> fill;
};

/// The machine at `path`, made if there is none. Empty: neither can be; stderr says why.
[[nodiscard]] std::optional<machine_image> open_or_create_machine(const machine_kind& kind,
                                                                  const std::string& path,
                                                                  const machine_plan& plan);

/// Nobody joins it any more. Holding its lock.
void close_machine(const machine_image& image) noexcept;

/// Removes the machines, of whatever job of this user and device, all of whose processes were
/// killed: who would have been the last to leave could not do it.
void sweep_machines(const machine_kind& kind);

/// Takes memory for a part of a file: without it the first touch could end the process by SIGBUS.
/// Returns 0 or the reason.
[[nodiscard]] int reserve(int fd, std::size_t at, std::size_t bytes) noexcept;
/// Says that `what` cannot be made, why, and what to do.
void say_no_room(const char* what, std::size_t bytes, int problem) noexcept;

}  // namespace host
