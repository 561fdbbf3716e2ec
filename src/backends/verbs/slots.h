// SPDX-License-Identifier: BSD-3-Clause
// slots.h - registered memory of a lane: what messages arrive in, and what small data goes through.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/verbs/card.h"
#include "memory/segment.h"

namespace heddle::transport::verbs {

/// Places of one size, cut from one registration. The one freed last, which a core's cache has, is
/// taken next.
class slots {
 public:
  /// Throws error: no memory, or it cannot be registered.
  slots(const card& on, std::size_t count, std::size_t bytes);

  [[nodiscard]] std::uint32_t key() const noexcept { return registered_->lkey; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::byte* at(std::size_t number) const noexcept {
    return memory_.memory().data() + number * bytes_;
  }
  /// nullptr: none is free.
  [[nodiscard]] std::byte* take() noexcept {
    if (free_count_ == 0) [[unlikely]]
      return nullptr;
    return free_[--free_count_];
  }
  void give_back(std::byte* slot) noexcept { free_[free_count_++] = slot; }
  [[nodiscard]] std::size_t free() const noexcept { return free_count_; }

 private:
  std::size_t bytes_;
  memory::segment memory_;
  handle<ibv_mr> registered_;
  std::vector<std::byte*> free_;  // a place for each; the first ones are free
  std::size_t free_count_ = 0;
};

}  // namespace heddle::transport::verbs
