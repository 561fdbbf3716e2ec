// SPDX-License-Identifier: BSD-3-Clause
// machine_file.h - the layout of the file in /dev/shm that is the machine: who is where and owns
// what. Zero-filled memory is an empty machine.
//
// The file is sparse: head and nodes have memory from the start, a node's gates once it has some.
#pragma once
#include <atomic>
#include <cstdint>

#include "gates.h"
#include "host/shared_lock.h"
#include "ids.h"
#include "settings.h"

namespace tofu {

using host::max_processes;
using host::process_entry;
using host::process_stamp;
using host::shared_lock;

inline constexpr std::uint64_t machine_magic = 0x736f'6674'746f'6601;

/// A CQ of a TNI: free, or owned by a process. The other words are valid while `claim` stays.
struct alignas(64) cq_entry {
  std::atomic<std::uint64_t> claim;    ///< {generation 32, used 1, cmp_ids in use 8}
  std::atomic<std::uint32_t> process;  ///< slot of the owner
  std::atomic<std::int32_t> fd;        ///< of its shared CQ, in the owner
};
inline constexpr std::uint64_t claim_used = 1u << 8;
constexpr std::uint64_t claim_generation(std::uint64_t claim) noexcept {
  return claim >> 32;
}

struct tni_entry {
  cq_entry cqs[cqs_per_tni];
  alignas(64) std::atomic<std::uint64_t> busy_until;  ///< of the timing model, as below
  shared_lock armw;
};
struct node_entry {
  tni_entry tnis[tnis_per_node];
  alignas(64) std::atomic<std::uint64_t> busy_until;
  std::atomic<std::uint64_t> ports[ports_per_node];
  std::atomic<std::uint32_t> has_gates;  ///< 1: its node_gates have memory
  shared_lock armw;
};

/// The gates of a node: 200 times as large as the rest of it, and used by few programs.
struct alignas(4096) node_gates {
  gate_entry gates[tnis_per_node][gates_per_tni];
};

struct machine_file : host::machine_head {
  settings set;
  node_entry nodes[1];  ///< as many as the shape has; behind them as many node_gates
};

}  // namespace tofu
