// SPDX-License-Identifier: BSD-3-Clause
// send_window.h - flights of messages of one stream that may be sent: as many as the peer has
// buffers for.
#pragma once
#include <cstdint>

namespace heddle::transport::verbs {

class send_window {
 public:
  /// At a new end of the stream, which offers so many buffers and has taken nothing yet.
  void open(std::uint32_t buffers) noexcept { buffers_ = buffers; }
  /// All are to be sent again, these many, to another end.
  void restart(std::uint32_t sent) noexcept {
    sent_ = sent;
    taken_ = 0;
  }
  [[nodiscard]] bool has_room() const noexcept { return sent_ - taken_ < buffers_; }
  void count_sent() noexcept { ++sent_; }
  /// The peer says that it has taken so many in all; false: it cannot be.
  [[nodiscard]] bool on_taken(std::uint32_t taken) noexcept {
    if (taken - taken_ > sent_ - taken_) return false;
    taken_ = taken;
    return true;
  }

 private:
  std::uint32_t sent_ = 0, taken_ = 0, buffers_ = 0;
};

}  // namespace heddle::transport::verbs
