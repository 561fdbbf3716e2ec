// SPDX-License-Identifier: BSD-3-Clause
// reassembler.h - cuts the byte stream of a connection into frames, without believing it.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/tcp/frame.h"

namespace heddle::transport::tcp {

/// The receive buffer of one connection.
///
/// Use: receive into room(), tell filled(), then next() until it wants more. Payloads point into
/// the buffer and stay valid until room() is asked for again.
class reassembler {
 public:
  static constexpr std::size_t read_bytes = 64 * 1024;  ///< most that room() offers
  /// A put or get_data frame longer than this is handed out before all of it has arrived.
  static constexpr std::size_t stream_bytes = 4096;

  struct item {
    verdict is = verdict::more;
    frame head;
    std::span<const std::byte> payload;  ///< of the payload, what is here
    std::uint32_t missing = 0;           ///< of the payload, what is still to come on the stream
  };

  reassembler();

  /// Where the next bytes of the stream go; never empty as long as next() was asked until `more`.
  [[nodiscard]] std::span<std::byte> room() noexcept {
    if (begin_ != 0) move_to_front();
    return {buffer_.get() + end_, std::min(read_bytes, capacity - end_)};
  }
  /// `bytes` were written at the front of room().
  void filled(std::size_t bytes) noexcept { end_ += bytes; }

  /// Takes whole messages, as nearly all frames are, off the front: `most`, or until next() has to
  /// tell what comes. Gives the payload of each to `take`. Returns how many there were.
  template <class F>
  std::size_t take_messages(std::size_t most, F take) noexcept {
    const std::byte* at = buffer_.get() + begin_;
    const std::byte* const last = buffer_.get() + end_ - common_header;  // where a header may be
    std::size_t taken = 0;
    for (; taken != most && at <= last; ++taken) {
      // Its length, if the other half says that it is a message; otherwise more than any length.
      const std::uint64_t bytes = std::rotl(load_le<std::uint64_t>(at), 32) -
                                  (static_cast<std::uint64_t>(frame_kind::message) << 32);
      if (bytes > std::min(static_cast<std::size_t>(last - at), max_message)) break;
      at += common_header;
      take(std::span(at, bytes));
      at += bytes;
    }
    begin_ = static_cast<std::size_t>(at - buffer_.get());
    return taken;
  }

  /// True when take_messages() may find one; not when empty().
  [[nodiscard]] bool begins_with_message() const noexcept {
    return buffer_[begin_] == static_cast<std::byte>(frame_kind::message);
  }
  /// The next frame. When `missing` is not 0, that many bytes of the stream belong to its payload
  /// and must be taken from the stream by the caller, past this buffer, which is then empty.
  [[nodiscard]] item next() noexcept;
  /// True when nothing is buffered.
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

 private:
  void move_to_front() noexcept;
  // A partial message and one whole read fit.
  static constexpr std::size_t capacity = common_header + max_message + read_bytes;

  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace heddle::transport::tcp
