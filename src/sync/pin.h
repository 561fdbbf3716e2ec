// SPDX-License-Identifier: BSD-3-Clause
// pin.h - counts who is using a thing right now, so that its remover can wait for them.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace heddle::sync {

/// Users in the low 31 bits, and whether new ones are let in.
class pin_count {
 public:
  /// False: closed, or about to be.
  [[nodiscard]] bool try_enter() noexcept {
    // Acquire (A1) pairs with R2 in open(): who enters sees what was set up before opening.
    const std::uint32_t before = word_.fetch_add(1, std::memory_order_acquire);
    if ((before & opened) != 0) return true;
    leave();
    return false;
  }
  void leave() noexcept {
    word_.fetch_sub(1, std::memory_order_release);  // R1 pairs with A2 in close()
  }
  void open() noexcept {
    word_.fetch_or(opened, std::memory_order_release);  // R2 pairs with A1
  }
  /// Lets nobody in from now on.
  void close() noexcept {
    word_.fetch_and(~opened, std::memory_order_relaxed);  // relaxed: A2 in empty() does the rest
  }
  /// After close(): true when the last user has left, and all it did is visible.
  [[nodiscard]] bool empty() const noexcept {
    return (word_.load(std::memory_order_acquire) & ~opened) == 0;  // A2 pairs with R1
  }

 private:
  static constexpr std::uint32_t opened = 1u << 31;
  std::atomic<std::uint32_t> word_{0};
};

/// Leaves its pin_count when destroyed.
class pin {
 public:
  pin() = default;
  explicit pin(pin_count& entered) noexcept : count_(&entered) {}
  pin(pin&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  pin& operator=(pin&& other) noexcept {
    std::swap(count_, other.count_);
    return *this;
  }
  ~pin() {
    if (count_ != nullptr) count_->leave();
  }

 private:
  pin_count* count_ = nullptr;
};

}  // namespace heddle::sync
