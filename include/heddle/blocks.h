// SPDX-License-Identifier: BSD-3-Clause
// blocks.h - operations on many blocks that end as one: puts and gets of lists and of grids with
// strides, and messages that are gathered from a list or scattered into one.
//
// Each comes in two forms:
//   status try_put_...(lane&, ..., completion)  does not block
//   status put_...(lane&, ...)                  waits until all blocks have ended: the status
//
// Rules for puts and gets:
// * The blocks may lie anywhere, at several peers too; those of a list in any order. They are
//   moved in any order, and must not overlap where they are written to.
// * Local memory, and the blocks themselves, belong to Heddle as any operation's buffers do
//   (lane.h), and the lane must stay as long. Strides are copied.
// * The completion comes once, when all blocks have ended: every block, by then, as a try_put or
//   try_get of its own. Outcome: the bytes of all blocks that were moved.
// * lane::flush and lane::fence know of the blocks that were posted before them, which need not be
//   all: wait for the completion first.
//
// Statuses: as lane::try_put and try_get of each block. Where one fails the outcome has the status
// and the peer of the first failure that was noticed, and other blocks may have been moved or not;
// so they may when the answer is busy_queue or busy_records, and the whole may be posted again.
// Also invalid: more than max_strides, or more blocks than 2^63. no_memory: for its own notes.
//
// Names and shapes follow the vector, indexed and strided operations of GASNet-EX, and shmem_iput.
#pragma once
#include <heddle/completion.h>
#include <heddle/lane.h>
#include <heddle/memory.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <chrono>
#include <cstddef>
#include <span>

namespace heddle {

/// A block of a list: what to write, and where.
struct put_block {
  std::span<const std::byte> from;
  remote_address to;
};
/// A block of a list: where to, and what to read.
struct get_block {
  std::span<std::byte> into;
  remote_address from;
};

/// One dimension of a grid of blocks: how many there are in it, and the distance in bytes from the
/// beginning of one to the beginning of the next, which may be negative, in the local memory and at
/// the peer.
struct stride {
  std::size_t count = 1;
  std::ptrdiff_t here = 0, there = 0;
};
inline constexpr std::size_t max_strides = 8;

/// Writes every block. No block at all is done.
status try_put_blocks(lane& on, std::span<const put_block> blocks, completion ended = {}) noexcept;
status put_blocks(lane& on, std::span<const put_block> blocks) noexcept;

/// Reads every block.
status try_get_blocks(lane& on, std::span<const get_block> blocks, completion ended = {}) noexcept;
status get_blocks(lane& on, std::span<const get_block> blocks) noexcept;

/// Writes a grid of equal blocks: `first` is its block 0 in all dimensions and `to` the place of
/// that one. Column 3 of a matrix of 64 rows of 100 doubles, into a column of doubles at the peer:
///
///   const stride rows{.count = 64, .here = 100 * sizeof(double), .there = sizeof(double)};
///   put_grid(on, std::as_bytes(std::span(&matrix[3], 1)), column, {&rows, 1});
status try_put_grid(lane& on, std::span<const std::byte> first, remote_address to,
                    std::span<const stride> dimensions, completion ended = {}) noexcept;
status put_grid(lane& on, std::span<const std::byte> first, remote_address to,
                std::span<const stride> dimensions) noexcept;

/// Reads a grid of equal blocks: `first` is where its block 0 goes, which lies at `from`.
status try_get_grid(lane& on, std::span<std::byte> first, remote_address from,
                    std::span<const stride> dimensions, completion ended = {}) noexcept;
status get_grid(lane& on, std::span<std::byte> first, remote_address from,
                std::span<const stride> dimensions) noexcept;

// --- messages --------------------------------------------------------------------------
// They travel whole, as those of lane.h do, with which they match: who sends a list may be received
// from by a plain receive, and the other way round. Statuses and completions are those of lane.h,
// and no_memory for a message's bytes, which are copied once here.

/// As lane::try_send, of all blocks behind each other. They may be reused on return, whatever the
/// answer is.
status try_send_blocks(lane& on, destination to, tag t,
                       std::span<const std::span<const std::byte>> blocks,
                       completion ended = {}) noexcept;
status send_blocks(lane& on, destination to, tag t,
                   std::span<const std::span<const std::byte>> blocks) noexcept;

/// As lane::try_call, with such a payload. Header and payload may be reused on return.
status try_call_blocks(lane& on, destination to, handler_id h, std::span<const std::byte> header,
                       std::span<const std::span<const std::byte>> payload,
                       completion ended = {}) noexcept;
status call_blocks(lane& on, destination to, handler_id h, std::span<const std::byte> header,
                   std::span<const std::span<const std::byte>> payload) noexcept;

/// As lane::try_recv, into the blocks in turn, each filled before the next. The list may be reused
/// on return, what it names belongs to Heddle until the completion. lane::try_cancel takes it back
/// by `ended`.
status try_recv_blocks(lane& on, rank from, tag_match t,
                       std::span<const std::span<std::byte>> blocks,
                       completion ended = {}) noexcept;
outcome recv_blocks(lane& on, rank from, tag_match t,
                    std::span<const std::span<std::byte>> blocks) noexcept;
/// As lane::recv_for.
outcome recv_blocks_for(lane& on, rank from, tag_match t,
                        std::span<const std::span<std::byte>> blocks,
                        std::chrono::nanoseconds limit) noexcept;

}  // namespace heddle
