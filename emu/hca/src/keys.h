// SPDX-License-Identifier: BSD-3-Clause
// keys.h - registered memory, as those see it who are given its keys.
//
// The table lies at the start of each process's arena, so that initiators check what the hardware
// of the target would check. A key is {kind 1, index 16, generation 8}: what was deregistered is
// known as such until its place has been used 255 times. An rkey is never the lkey.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "capacity.h"

namespace hca {

inline constexpr std::uint32_t rkey_bit = 1u << 31;

/// A registration. The other words are valid while `key` stays.
struct alignas(64) mr_entry {
  std::atomic<std::uint32_t> key;  ///< the lkey; 0: free
  std::uint32_t pd;
  std::uint32_t access;  ///< IBV_ACCESS_*
  std::uint32_t device;
  std::uint64_t iova;  ///< how keys' users count
  std::uint64_t length;
  std::uint64_t address;  ///< where it really is
};

struct key_table {
  mr_entry entries[max_mrs];
};

/// What a key has to be good for.
struct key_use {
  std::uint32_t key;
  std::uint32_t pd;
  std::uint32_t access;  ///< all of these rights
  std::uint64_t iova;
  std::uint64_t length;
};

/// Where the memory is, or 0: the key is not good for that. `rkey`: which kind of key it has to be.
[[nodiscard]] std::uint64_t translate(const key_table& table, const key_use& use,
                                      bool rkey) noexcept;

/// Whose registrations these are: gives out keys.
class key_owner {
 public:
  explicit key_owner(key_table& table) noexcept : table_(table) {}
  /// The lkey; 0: the table is full.
  [[nodiscard]] std::uint32_t add(std::uint32_t device, std::uint32_t pd, std::uint32_t access,
                                  std::uint64_t iova, std::uint64_t address, std::uint64_t length);
  void remove(std::uint32_t lkey) noexcept;

 private:
  key_table& table_;
  std::mutex mutex_;  // guards all below, and adding
  unsigned end_ = 1;
  std::vector<unsigned> free_;
  std::vector<std::uint8_t> generations_ = std::vector<std::uint8_t>(max_mrs);
};

}  // namespace hca
