// SPDX-License-Identifier: BSD-3-Clause
// rank_ops.h - one step as one call of Heddle, in each of the forms that the API has for it.
#pragma once
#include <heddle/blocks.h>
#include <heddle/heddle.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz/board.h"
#include "fuzz/plan.h"
#include "fuzz/rank_memory.h"

namespace heddle::fuzz {

inline constexpr handler_id notified = 1, called = 2, placed = 3;
/// Under it stands a handler that does as `called`.
inline constexpr std::string_view called_name = "fuzz.called";

/// What a step needs while it is under way: buffers, and how its end is learnt of.
struct slot {
  const step* what = nullptr;
  record* facts = nullptr;
  std::vector<std::byte> data;       ///< sent or received; collectives: given
  std::vector<std::byte> result;     ///< collectives: got
  std::vector<std::byte> header;     ///< of a call
  std::uint64_t old = 0;             ///< of an atomic
  heddle::group* members = nullptr;  ///< of a collective; null: all ranks
  handler_id handler = called;       ///< of a call
  std::vector<put_block> puts;       ///< what the blocks of a form are listed in
  std::vector<get_block> gets;
  std::vector<std::span<const std::byte>> given;
  std::vector<std::span<std::byte>> taken;
  matched_message message;
  flag ended_flag;
  std::atomic<bool> ended{false};  ///< by callback, queue or coroutine
  outcome how;
};

/// Fills the buffers that the step reads.
void prepare(slot& s, int rank, int ranks);
/// The call itself, in the form that takes a completion.
[[nodiscard]] status post(lane& on, const rank_memory& memory, slot& s, const completion& c);
/// A flush or fence, waiting until it is done.
[[nodiscard]] status order(lane& on, const step& s);
/// As post, waiting until it is done.
[[nodiscard]] outcome block(lane& on, const rank_memory& memory, slot& s);
/// As post, awaited in a coroutine; `c` is delivered when that has ended.
void spawn(lane& on, const rank_memory& memory, slot& s, const completion& c);
/// What the operation left behind, compared with what it had to: written to the slot's record.
void inspect(const plan& p, const board& facts, const rank_memory& memory, slot& s, int rank);

/// The bytes of a call's header and payload that name its step come first.
[[nodiscard]] int step_of(const call_message& m);
/// Whether the bytes are those that the step sent.
[[nodiscard]] bool is_as_sent(const step& s, const call_message& m);

}  // namespace heddle::fuzz
