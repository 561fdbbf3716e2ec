// SPDX-License-Identifier: BSD-3-Clause
// counters.h - what a device was asked to do, for tests that count it.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hca {

enum class counter : std::uint8_t { doorbells, work_requests, signalled, inline_bytes, count };

class counters {
 public:
  void add(counter which, std::uint64_t much = 1) noexcept {
    // Relaxed, both: counts publish nothing.
    values_[static_cast<std::size_t>(which)].fetch_add(much, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t operator[](counter which) const noexcept {
    return values_[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(counter::count)> values_{};
};

}  // namespace hca
