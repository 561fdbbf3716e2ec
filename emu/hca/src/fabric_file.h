// SPDX-License-Identifier: BSD-3-Clause
// fabric_file.h - the layout of the file in /dev/shm that is the fabric: which process has which
// queue pair. Zero-filled memory is an empty fabric.
#pragma once
#include <atomic>
#include <cstdint>

#include "capacity.h"
#include "host/shared_lock.h"
#include "settings.h"
#include "shared_pipe.h"

namespace hca {

inline constexpr std::uint64_t fabric_magic = 0x736f'6674'6863'6101;

/// A queue pair: free, or owned by a process, in whose arena it lies.
struct qp_entry {
  std::atomic<std::uint32_t> number;  ///< 0: free; otherwise its QPN, which is {generation, index}
  std::atomic<std::uint32_t> uses;
  std::atomic<host::process_stamp> process;
  std::atomic<std::uint64_t> at;  ///< offset in the arena
};

struct member_entry {
  std::atomic<std::int32_t> arena_fd;  ///< in the process
};

/// A multicast group: guarded by the fabric's lock; senders read it without.
struct group_entry {
  std::atomic<std::uint64_t> gid[2];
  std::atomic<std::uint32_t> members[max_group_members];  ///< QPNs, 0: none
};

/// An open device: guarded by the fabric's lock.
struct context_entry {
  host::process_stamp process;  ///< 0: free
  std::int32_t pid;
  std::uint32_t node, device;
  pipe_address async;
};

struct device_entry {
  std::atomic<std::uint32_t> down[max_ports];  ///< 1: the port's cable is out
  host::shared_lock atomics;                   ///< atomics are atomic among those that hold it
};

struct fabric_file : host::machine_head {
  settings set;
  member_entry members[host::max_processes];
  device_entry devices[max_nodes][max_devices];
  context_entry contexts[max_contexts];
  group_entry groups[max_groups];
  qp_entry qps[max_qps];
};

}  // namespace hca
