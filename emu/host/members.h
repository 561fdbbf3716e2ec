// SPDX-License-Identifier: BSD-3-Clause
// members.h - the processes of a machine: who is there, and who has died.
//
// Every machine's file begins with a machine_head. Zero-filled memory is a head without members.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "host/life.h"

namespace host {

inline constexpr unsigned max_processes = 1024;

/// A process of the machine. Guarded by the machine's lock but for what its comments say.
struct alignas(64) process_entry {
  life_word life;                         ///< read by all, see life.h
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
constexpr unsigned slot_of(process_stamp stamp) noexcept {
  return (stamp & 0xfff) - 1;
}

struct machine_head {
  std::uint64_t magic;
  std::uint64_t bytes;
  pthread_mutex_t lock;               ///< robust
  std::atomic<std::uint32_t> closed;  ///< 1: unlinked, join another one
  process_entry processes[max_processes];
};

/// No lock needed.
[[nodiscard]] bool is_alive(const machine_head& head, process_stamp who) noexcept;

/// A process that has come in: where, and the value its life word has while it lives.
struct membership {
  unsigned slot = 0;
  process_stamp stamp = 0;
  std::uint32_t life = 0;
};

/// What follows is called holding the lock.
[[nodiscard]] std::optional<unsigned> free_slot(const machine_head& head) noexcept;
/// This process takes a free slot. Empty: it cannot be watched over; stderr says why.
[[nodiscard]] std::optional<membership> enter(machine_head& head, unsigned slot,
                                              std::uint32_t node);
void leave(machine_head& head, unsigned slot) noexcept;
[[nodiscard]] bool anybody(const machine_head& head) noexcept;
/// Whether all that are here have died, or nobody is, and the file still has its name.
[[nodiscard]] bool is_abandoned(const machine_head& head) noexcept;
/// Whether a process was here and has died.
[[nodiscard]] bool has_died(const process_entry& process) noexcept;

/// Calls release(slot) for each process that died, and forgets it.
template <class Release>
void forget_dead(machine_head& head, const Release& release) {
  for (unsigned slot = 0; slot < max_processes; ++slot) {
    if (!has_died(head.processes[slot])) continue;
    release(slot);
    leave(head, slot);
  }
}

}  // namespace host
