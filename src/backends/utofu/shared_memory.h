// SPDX-License-Identifier: BSD-3-Clause
// shared_memory.h - what peers read and write in this process's registered memory: layouts.
//
// Rules, because nothing but the hardware's own guarantees may be relied on (order.cpp and
// barriers.cpp of emu/tofu/conformance): a word that peers write is never written here after it was
// handed out, and has its 256-byte line to itself and others of the same writer; what is longer
// than a word carries a check sum, so that a reader knows when all of it has come.
#pragma once
#include <heddle/types.h>
#include <utofu.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/region_table.h"
#include "sync/release_acquire.h"

namespace heddle::transport::utofu {

inline constexpr std::size_t line_bytes = 256;  ///< cache line of an A64FX, and of every ring

/// Reserved steering tags, per VCQ. The numbers are known to peers: they compute addresses.
enum tag : unsigned {
  tag_listener = 0,    ///< the lane's `listener`
  tag_first_slab = 1,  ///< the lane's slabs, as many as it needs
  tag_last_slab = 15,
  tag_regions = 16,    ///< the table of regions; on the first VCQ only
  tag_symmetric = 32,  ///< the first symmetric arrays of the job, on every CQ
  tag_writable = 128,  ///< other regions that peers may write to
  tag_end = 256,       ///< num_reserved_stags of TofuD
};
inline constexpr std::uint32_t tagged_arrays = tag_writable - tag_symmetric;

/// The tag of a region that has the same one on every CQ of every rank, or 0.
[[nodiscard]] constexpr unsigned common_tag(memory::region_ref ref) noexcept {
  static_assert(tagged_arrays <= memory::region_table::symmetric_slots);
  return ref.generation == 1 && ref.slot < tagged_arrays ? tag_symmetric + ref.slot : 0;
}

/// Where something lies in a lane's slabs: tag in the high byte, then units of line_bytes.
using slab_place = std::uint32_t;
[[nodiscard]] constexpr unsigned tag_of(slab_place p) noexcept {
  return p >> 24;
}
[[nodiscard]] constexpr std::uint64_t offset_of(slab_place p) noexcept {
  return std::uint64_t{p & 0xff'ffff} * line_bytes;
}
inline constexpr std::size_t slab_reach = std::size_t{1} << 24 << 8;  ///< bytes under one tag
static_assert(slab_reach == offset_of(0xff'ffff) + line_bytes);

/// What a lane lets a peer's lane write to: a ring for messages, and an area for the rest. Travels
/// as a request to the peer's listener, and back as the answer into the requester's area.
struct grant {
  std::int32_t from = 0;  ///< rank
  slab_place ring = 0;
  slab_place area = 0;
  std::uint16_t lines = 0;  ///< of line_bytes each, in the ring
  std::uint8_t polled = 0;  ///< 1: messages come without a notice; they are looked for, see stamp
  std::uint8_t lane = 0;    ///< of `from`
  std::uint64_t nonce = 0;  ///< of the process that grants
  std::uint32_t ticket = 0;
  std::uint32_t check = 0;  ///< written last
};
static_assert(sizeof(grant) == 32, "one piggyback put");

[[nodiscard]] std::uint32_t check_sum(const grant& g) noexcept;

/// What one peer writes for one lane, beside messages.
struct peer_area {
  grant answer;
  std::array<std::byte, 32> pad;
  sync::release_acquire<std::uint64_t> consumed;  ///< lines of our messages that are free again
  std::array<std::byte, 56> pad2;
  std::array<std::byte, 128> landing;  ///< of the lane's own gets: entries, nonces, `served`
};
static_assert(sizeof(peer_area) == line_bytes);
// Places in peer_area::landing.
inline constexpr std::size_t entry_at = 0, nonce_at = 32, served_at = 40;

/// What every peer finds at a lane, whether it is open or not.
struct listener {
  static constexpr std::uint32_t backlog = 64;
  std::uint64_t nonce;  ///< as in the address: tells that the process lives, and that it is the one
  alignas(line_bytes) sync::release_acquire<std::uint64_t> tickets;  ///< counted up by requesters
  alignas(line_bytes) sync::release_acquire<std::uint64_t> served;   ///< requests taken; ours
  alignas(line_bytes) std::array<grant, backlog> requests;  ///< that of ticket t at t % backlog
};

/// Before the payload of every message in a ring.
struct message_header {
  std::uint16_t bytes = 0;     ///< of the message behind this; or wrapped_bytes
  std::uint16_t mark = 0;      ///< polled: the low bits of its stamp. Else: tells_of
  std::uint32_t consumed = 0;  ///< lines of the other direction's ring that are free again
};
static_assert(sizeof(message_header) == 8);
inline constexpr std::uint16_t wrapped_bytes = 0xffff;  ///< none: a wrap_mark

/// Behind a message in a polled ring, in the next whole word: written last, it says that all of the
/// message is there. `position` is in lines since the ring was granted; no two messages share one.
using stamp_t = std::uint64_t;
[[nodiscard]] constexpr stamp_t stamp_of(std::uint64_t nonce, std::uint64_t position) noexcept {
  return (nonce ^ (position + 1) * 0x9e37'79b9'7f4a'7c15u) | 1;
}
[[nodiscard]] constexpr std::size_t stamp_at(std::size_t message_bytes) noexcept {
  return (sizeof(message_header) + message_bytes + sizeof(stamp_t) - 1) / sizeof(stamp_t) *
         sizeof(stamp_t);
}

/// In a polled ring, in place of a message: the next one lies at the beginning. What is looked at
/// may be the data of an older message, so it has a stamp as every message has.
struct wrap_mark {
  constexpr explicit wrap_mark(stamp_t of) noexcept
      : head{wrapped_bytes, static_cast<std::uint16_t>(of), 0}, stamp(of) {}
  message_header head;
  stamp_t stamp;
};
static_assert(offsetof(wrap_mark, stamp) == stamp_at(0));

/// What the 8 bits beside an operation say. Those of tracked operations count; a message's say
/// whether it lies at the beginning of the ring although there was space before the end.
inline constexpr std::uint64_t edata_message = 0x80;
inline constexpr std::uint64_t edata_wrapped = 0x01;
inline constexpr std::uint64_t edata_numbers = 0x80;  ///< tracked operations count modulo this

}  // namespace heddle::transport::utofu
