// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/buffers.h"

#include <algorithm>

namespace heddle::transport::utofu {
namespace {

/// Messages begin at cache lines of most machines.
constexpr std::size_t grain = 64;
/// Little that is under way goes round in this much at the front, which a core's cache keeps.
constexpr std::size_t warm_bytes = 16 * 1024;

}  // namespace

bool send_buffer::find(std::size_t bytes, piece& out) const noexcept {
  const std::uint64_t size = over_.bytes.size();
  const std::uint64_t needed = (bytes + grain - 1) / grain * grain;
  const std::uint64_t place = taken_ & (size - 1);
  const bool over_the_end = place + needed > size;
  const bool cold = place >= warm_bytes && taken_ - freed_ + needed <= place;  // the front is free
  const std::uint64_t begin = over_the_end || cold ? taken_ + size - place : taken_;
  if (begin + needed - freed_ > size) return false;
  const std::uint64_t at = begin & (size - 1);
  out = {over_.bytes.data() + at, over_.address + at, begin + needed};
  return true;
}

slot_pool::slot_pool(registered_memory over, std::size_t slot_bytes)
    : over_(over),
      slot_bytes_(slot_bytes),
      count_(over.bytes.size() / slot_bytes),
      free_(std::make_unique<std::byte*[]>(count_)) {
  for (std::size_t i = 0; i < count_; ++i)
    free_[i] = over.bytes.data() + (count_ - 1 - i) * slot_bytes;
}

}  // namespace heddle::transport::utofu
