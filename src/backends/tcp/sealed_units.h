// SPDX-License-Identifier: BSD-3-Clause
// sealed_units.h - the stream of an encrypted connection, cut into sealed units.
//
// A unit: length 4 (of the plain bytes, 1 to 64 Ki; authenticated), as many encrypted bytes, a
// tag of 16. It is used only when all of it is here and proves genuine; one that was changed, left
// out, repeated or moved is found, and nothing after it counts.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/tcp/cipher.h"
#include "backends/tcp/socket.h"

namespace heddle::transport::tcp {

inline constexpr std::size_t most_plain = 64 * 1024;  ///< of a unit
inline constexpr std::size_t unit_head = 4;
inline constexpr std::size_t unit_extra = unit_head + cipher::tag_bytes;

/// What one side says. One thread at a time.
class sealed_writer {
 public:
  sealed_writer(algorithm which, const cipher::key& key);

  /// As tcp::transmit. Counted are bytes whose unit is all written, so after a call that did not
  /// take all the next one must offer the same bytes again, perhaps with more behind them: some may
  /// be in a unit already.
  [[nodiscard]] transferred transmit(int fd, std::span<const iovec> from) noexcept;
  /// Bytes written, as they travel.
  [[nodiscard]] std::uint64_t moved() const noexcept { return moved_; }

 private:
  class source;
  void seal(source from) noexcept;
  [[nodiscard]] transferred write(int fd) noexcept;

  cipher cipher_;
  std::unique_ptr<std::byte[]> unit_;
  std::size_t begin_ = 0, end_ = 0;  // of the unit, what is still to be written
  std::size_t promised_ = 0;         // plain bytes in it
  std::uint64_t moved_ = 0;
};

/// What the other side says. One thread at a time.
///
/// Use: take() until it takes nothing, then receive into room(), tell filled(), and so on.
class sealed_reader {
 public:
  sealed_reader(algorithm which, const cipher::key& key);

  /// Where the next bytes go as they travel; never empty. Only after take() took nothing.
  [[nodiscard]] std::span<std::byte> room() noexcept;
  /// `bytes` were written at the front of room().
  void filled(std::size_t bytes) noexcept {
    end_ += bytes;
    moved_ += bytes;
  }
  /// Puts plain bytes at the front of `into`; how many. 0: no whole unit is here, or forged().
  [[nodiscard]] std::size_t take(std::span<std::byte> into) noexcept;
  /// What has come is not what was sent: nothing will be taken any more. Where the bytes of a false
  /// unit would have gone there may be zeros.
  [[nodiscard]] bool forged() const noexcept { return forged_; }
  /// Bytes received, as they travel.
  [[nodiscard]] std::uint64_t moved() const noexcept { return moved_; }

 private:
  static constexpr std::size_t capacity = 4 * (most_plain + unit_extra);

  [[nodiscard]] std::size_t take_left(std::span<std::byte> into) noexcept;

  cipher cipher_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what has come and is not opened
  std::span<const std::byte> left_;  // of the unit opened last, in the buffer
  bool forged_ = false;
  std::uint64_t moved_ = 0;
};

}  // namespace heddle::transport::tcp
