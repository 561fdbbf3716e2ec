// SPDX-License-Identifier: BSD-3-Clause
// keys.cpp - see keys.h.
#include "keys.h"

namespace hca {

std::uint64_t translate(const key_table& table, const key_use& use, bool rkey) noexcept {
  if (((use.key & rkey_bit) != 0) != rkey) return 0;
  const std::uint32_t lkey = use.key & ~rkey_bit;
  const mr_entry& m = table.entries[(lkey >> 8) % max_mrs];
  // A1 pairs with R1: the entry is complete.
  if (lkey == 0 || m.key.load(std::memory_order_acquire) != lkey) return 0;
  if (m.pd != use.pd || (m.access & use.access) != use.access) return 0;
  if (use.iova < m.iova || use.length > m.length || use.iova - m.iova > m.length - use.length)
    return 0;
  return m.address + (use.iova - m.iova);
}

std::uint32_t key_owner::add(std::uint32_t device, std::uint32_t pd, std::uint32_t access,
                             std::uint64_t iova, std::uint64_t address, std::uint64_t length) {
  const std::lock_guard held(mutex_);
  unsigned index = 0;
  if (end_ < max_mrs) {  // a place is used again as late as can be
    index = end_++;
  } else if (!free_.empty()) {
    index = free_.front();
    free_.erase(free_.begin());
  } else {
    return 0;
  }
  std::uint8_t& generation = generations_[index];
  if (++generation == 0) generation = 1;
  mr_entry& m = table_.entries[index];
  m.pd = pd;
  m.access = access;
  m.device = device;
  m.iova = iova;
  m.address = address;
  m.length = length;
  const std::uint32_t lkey = index << 8 | generation;
  m.key.store(lkey, std::memory_order_release);  // R1 pairs with A1
  return lkey;
}

void key_owner::remove(std::uint32_t lkey) noexcept {
  const std::lock_guard held(mutex_);
  const unsigned index = lkey >> 8;
  // seq_cst: who waits for the initiators afterwards waits for those that still saw the key.
  table_.entries[index].key.store(0, std::memory_order_seq_cst);
  free_.push_back(index);
}

}  // namespace hca
