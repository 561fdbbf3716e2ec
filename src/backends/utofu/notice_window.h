// SPDX-License-Identifier: BSD-3-Clause
// notice_window.h - how much a lane may have under way that brings notices: the hardware's queue of
// these must never overflow.
#pragma once
#include <cstddef>

namespace heddle::transport::utofu {

/// Operations of the lane's own, and lines of peers' rings.
class notice_window {
 public:
  explicit notice_window(std::size_t most) noexcept : most_(most) {}

  [[nodiscard]] bool empty() const noexcept { return used_ == 0; }
  [[nodiscard]] bool full() const noexcept { return used_ >= most_; }
  /// Lines take three quarters of it. Those of peers that read nothing stay, and the rest is for
  /// what goes elsewhere.
  [[nodiscard]] bool crowded() const noexcept { return lines_ >= most_ / 4 * 3; }
  /// How many probes may be under way although it is full.
  [[nodiscard]] std::size_t spare() const noexcept { return most_ / 8; }

  /// An operation begins, and ends.
  void open() noexcept { ++used_; }
  void close() noexcept { --used_; }
  /// Lines are written to, and free again.
  void occupy(std::size_t lines) noexcept {
    used_ += lines;
    lines_ += lines;
  }
  void vacate(std::size_t lines) noexcept {
    used_ -= lines;
    lines_ -= lines;
  }

 private:
  const std::size_t most_;
  std::size_t used_ = 0;  // with lines_
  std::size_t lines_ = 0;
};

}  // namespace heddle::transport::utofu
