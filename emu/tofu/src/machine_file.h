// machine_file.h - the layout of the file in /dev/shm that is the machine: who is where and owns
// what. Zero-filled memory is an empty machine.
//
// The file is sparse: head and nodes have memory from the start, a node's gates once it has some.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "gates.h"
#include "host/life.h"
#include "ids.h"
#include "settings.h"

namespace tofu {

inline constexpr unsigned max_processes = 1024;
inline constexpr std::uint64_t machine_magic = 0x736f'6674'746f'6601;

/// A process of the machine. Guarded by the machine's lock but for what its comments say.
struct alignas(64) process_entry {
  host::life_word life;                   ///< read by all, see life.h
  std::atomic<std::uint32_t> generation;  ///< counts the processes that were here; read by all
  std::uint64_t start_time;               ///< 0: nobody is here
  std::int32_t pid;
  std::uint32_t node;
};

/// Names a process in shared words: slot + 1 in 12 bits, its generation above. Never 0.
using process_stamp = std::uint32_t;

constexpr process_stamp stamp_of(unsigned slot, std::uint32_t generation) noexcept {
  return generation << 12 | (slot + 1);
}

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

/// A lock that a dead holder does not keep, see shared_lock.h.
struct alignas(64) shared_lock {
  std::atomic<process_stamp> holder;
};

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

struct machine_file {
  std::uint64_t magic;
  std::uint64_t bytes;
  settings set;
  pthread_mutex_t lock;               ///< robust
  std::atomic<std::uint32_t> closed;  ///< 1: unlinked, join another one
  process_entry processes[max_processes];
  node_entry nodes[1];  ///< as many as the shape has; behind them as many node_gates
};

}  // namespace tofu
