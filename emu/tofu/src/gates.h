// SPDX-License-Identifier: BSD-3-Clause
// gates.h - barrier gates: each waits for its sources' signals, combines what they carry and
// signals its destinations. They live in the machine's file; whoever brings the last missing signal
// to a gate also carries on what follows from it, so nobody has to be called for a barrier to go
// on.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "exact_sum.h"
#include "ids.h"

namespace tofu {

class machine;

inline constexpr unsigned start_gates = 16;  // the others are relays
inline constexpr std::size_t max_uint64s = 6, max_doubles = 3;

/// What travels: a barrier's carries nothing, a reduction's numbers.
struct signal {
  std::int32_t error = 0;  ///< utofu_return_code
  std::uint8_t op = 0;     ///< utofu_reduce_op
  std::uint8_t count = 0;
  std::array<std::uint64_t, max_uint64s> words{};
  std::array<exact_sum, max_doubles> sums{};
};

/// Connections of a gate; no_gate: none.
struct gate_setting {
  static constexpr std::uint64_t no_gate = ~std::uint64_t{0};
  std::array<std::uint64_t, 2> sources{no_gate, no_gate};  ///< local, remote
  std::array<std::uint64_t, 2> destinations{no_gate, no_gate};
};

/// A partner may be one barrier ahead: two signals of each source.
struct gate_inbox {
  std::array<signal, 2> signals;
  std::uint8_t first;
  std::uint8_t count;
};

/// A gate. Zero-filled memory is a free one.
struct gate_entry {
  alignas(64) std::atomic<std::uint32_t> holder;  ///< its lock, see shared_lock
  std::atomic<std::uint32_t> owner;               ///< process slot + 1; 0: free
  std::uint32_t is_set;
  gate_setting setting;
  std::array<gate_inbox, 2> inboxes;  ///< local, remote
  // Start gates:
  std::uint8_t started;   ///< op under way, 0: none
  std::uint8_t finished;  ///< 1: `result` is it
  signal result;
};

/// All return a utofu_return_code.
int allocate_gates(const machine& m, unsigned tni, std::size_t count, std::uint64_t* ids);
int free_gates(const machine& m, const std::uint64_t* ids, std::size_t count);
int set_gate(const machine& m, std::uint64_t id, const gate_setting& setting);
/// Sends `first` on its way through the start gate `id`.
int start_gate(const machine& m, std::uint64_t id, const signal& first);
/// What came back to the start gate for an operation `op`.
int poll_gate(const machine& m, std::uint64_t id, unsigned op, signal& result);
/// Frees the gates of a process that is gone or leaves. Under the machine's lock; their own locks
/// need a process that has joined.
void release_gates(const machine& m, unsigned node, unsigned slot) noexcept;

}  // namespace tofu
