// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/spare_payloads.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace heddle::protocols {
namespace {

constexpr std::size_t page_bytes = 4096;

/// Of the block that a payload gets: a power of two where it may be kept, so that calls of about
/// the same size share blocks, otherwise whole pages where it is large. What lies above the payload
/// is not touched, and so is not there.
std::size_t room_for(std::size_t bytes) noexcept {
  if (bytes < spare_payloads::least_block) return bytes;
  if (bytes <= spare_payloads::most_bytes) return std::bit_ceil(bytes);
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

/// Large ones begin with a page: the kernel copies to them a sixth faster than to where malloc puts
/// them by itself, which is 16 bytes into a page.
payload_memory memory_for(std::size_t bytes) noexcept {
  if (bytes > PTRDIFF_MAX) return nullptr;  // a peer can say so, and no room could be told
  const std::size_t room = std::max<std::size_t>(room_for(bytes), 1);
  void* const memory =
      room < spare_payloads::least_block ? std::malloc(room) : std::aligned_alloc(page_bytes, room);
  return payload_memory(static_cast<std::byte*>(memory));
}

payload_memory spare_payloads::take(std::size_t bytes) noexcept {
  const std::size_t room = room_for(bytes);
  for (std::size_t i = count_; i-- > 0;)  // the last one may still be in the cache
    if (spares_[i].room == room) return take_out(i);
  return memory_for(bytes);
}

void spare_payloads::give_back(payload_memory block, std::size_t bytes) noexcept {
  const std::size_t room = room_for(bytes);
  if (block == nullptr || room < least_block || room > most_bytes) return;
  while (count_ == most || bytes_ + room > most_bytes) take_out(0);
  spares_[count_++] = {std::move(block), room};
  bytes_ += room;
}

payload_memory spare_payloads::take_out(std::size_t i) noexcept {
  const auto at = spares_.begin() + static_cast<std::ptrdiff_t>(i);
  bytes_ -= at->room;
  payload_memory block = std::move(at->block);
  std::move(std::next(at), spares_.begin() + static_cast<std::ptrdiff_t>(count_--), at);
  return block;
}

}  // namespace heddle::protocols
