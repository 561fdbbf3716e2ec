// SPDX-License-Identifier: BSD-3-Clause
// copy.cpp - process_vm_readv and process_vm_writev, in pieces between which a region may go.
#include "backends/shm/copy.h"

#include <heddle/detail/direct.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

namespace heddle::transport::shm {

namespace {

/// The owner of a region that may be written waits for the piece under way before it withdraws.
constexpr std::uint64_t piece_bytes = 8 * 1024 * 1024;
constexpr std::uint64_t word_bytes = 8;

status status_of(int code) noexcept {
  switch (code) {
    case ESRCH:
      return status::peer_lost;
    case EFAULT:  // the region promises memory that is not there
      return status::out_of_bounds;
    default:
      return status::unsupported;
  }
}

struct piece {
  std::byte* here;
  std::uint64_t there;
  std::uint64_t bytes;
};

status move(pid_t pid, op_kind kind, piece p) noexcept {
  while (p.bytes != 0) {
    iovec here{p.here, p.bytes};
    iovec there{reinterpret_cast<void*>(p.there), p.bytes};  // NOLINT: another process's address
    const ssize_t moved = kind == op_kind::put ? process_vm_writev(pid, &here, 1, &there, 1, 0)
                                               : process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return status_of(errno);
    if (moved == 0) return status::out_of_bounds;
    const auto done = static_cast<std::uint64_t>(moved);
    p = {p.here + done, p.there + done, p.bytes - std::min(p.bytes, done)};
  }
  return status::done;
}

/// A piece of 1 to 8 bytes, whole: who polls a word sees the one before or this one. A kernel
/// that copies by `rep movsb` does so byte by byte on some CPUs (seen: AMD with fsrm) where the
/// destination begins less than a line behind the source, counted within a page. A copy at the same
/// place in its line is never there.
status move_word(pid_t pid, op_kind kind, piece p) noexcept {
  alignas(64) std::array<std::byte, 64 + word_bytes> room;
  std::byte* const word = room.data() + p.there % 64;
  if (kind == op_kind::put) {
    std::memcpy(word, p.here, p.bytes);
    return move(pid, kind, {word, p.there, p.bytes});
  }
  const status code = move(pid, kind, {word, p.there, p.bytes});
  if (code == status::done) std::memcpy(p.here, word, p.bytes);
  return code;
}

status check(const sync::region_facts& region, rights wanted, std::uint64_t offset,
             std::uint64_t bytes) noexcept {
  if (!allows(region.allowed, wanted)) return status::denied;
  if (offset > region.bytes || bytes > region.bytes - offset) return status::out_of_bounds;
  if (region.address > std::numeric_limits<std::uint64_t>::max() - region.bytes) {
    return status::out_of_bounds;
  }
  return status::done;
}

/// One piece at `offset`, inside the region as long as it takes.
status move_inside(sync::shared_region& slot, const op& what, peer_process& peer, piece p,
                   std::uint64_t offset) noexcept {
  sync::region_facts region;
  if (!slot.try_enter(what.region.generation, region))
    return peer.is_gone() ? status::peer_lost : status::withdrawn;
  const rights wanted = what.kind == op_kind::put ? rights::write : rights::read;
  status code = check(region, wanted, offset, p.bytes);
  p.there = region.address + offset;
  // Asked each time: the number of an ended process may already be another's.
  if (code == status::done && peer.is_gone()) code = status::peer_lost;
  if (code == status::done) {
    const bool word = p.bytes != 0 && p.bytes <= word_bytes;
    code = (word ? move_word : move)(peer.pid(), what.kind, p);
  }
  if (!slot.leave(what.region.generation) && code == status::done) code = status::withdrawn;
  return code;
}

}  // namespace

status copy_directly(const op& what, peer_process& peer) noexcept {
  if (what.region.slot >= memory::region_table::slots) return status::withdrawn;
  sync::shared_region& slot = peer.memory().regions[what.region.slot];
  const bool put = what.kind == op_kind::put;
  std::byte* const here = what.memory.data();
  const std::uint64_t bytes = what.memory.size();
  std::uint64_t moved = 0;
  do {
    const std::uint64_t now = std::min(bytes - moved, piece_bytes);
    const std::uint64_t offset = what.offset + moved;
    if (offset < moved) return status::out_of_bounds;
    const status code = move_inside(slot, what, peer, {here + moved, 0, now}, offset);
    if (code != status::done) return code;
    moved += now;
  } while (moved != bytes);
  if (put) detail::order_stores();  // the kernel's copy, before what we store after it
  return status::done;
}

}  // namespace heddle::transport::shm
