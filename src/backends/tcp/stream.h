// SPDX-License-Identifier: BSD-3-Clause
// stream.h - the bytes of a proven connection, both ways: as they are, or in sealed units.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "backends/tcp/sealed_units.h"
#include "backends/tcp/socket.h"
#include "base/fd.h"

namespace heddle::transport::tcp {

/// Both directions of an encrypted connection. One thread at a time.
class sealed_stream {
 public:
  /// Of one connection; `says` and `hears` are swapped at the other end.
  struct keys {
    algorithm which = algorithm::none;
    cipher::key says{}, hears{};
  };
  explicit sealed_stream(const keys& k) : out_(k.which, k.says), in_(k.which, k.hears) {}

  /// As sealed_writer::transmit.
  [[nodiscard]] transferred transmit(int fd, std::span<const iovec> from) noexcept {
    return out_.transmit(fd, from);
  }
  /// As tcp::receive. Less than asked for means that nothing more is here now, or that the socket
  /// will tell why not. A unit that is not genuine breaks the connection with EBADMSG.
  [[nodiscard]] transferred receive(int fd, std::span<const iovec> into) noexcept;
  [[nodiscard]] std::uint64_t moved() const noexcept { return out_.moved() + in_.moved(); }

 private:
  [[nodiscard]] transferred fill(int fd, std::span<std::byte> into, bool& drained) noexcept;

  sealed_writer out_;
  sealed_reader in_;
};

/// Owns the socket, or nothing. One thread at a time.
class stream {
 public:
  stream() noexcept = default;
  /// Without `sealed`: plain.
  explicit stream(unique_fd fd, std::unique_ptr<sealed_stream> sealed = {}) noexcept
      : fd_(std::move(fd)), sealed_(std::move(sealed)) {}

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  /// The socket alone, with which nothing is to be said or heard any more.
  [[nodiscard]] unique_fd release() noexcept { return std::move(fd_); }

  // As tcp::transmit and tcp::receive. A transmit() that did not take all it was offered has to be
  // offered the same bytes next, see sealed_writer.
  [[nodiscard]] transferred transmit(std::span<const std::byte> from) noexcept {
    if (sealed_ == nullptr) [[likely]]
      return tcp::transmit(fd(), from);
    const iovec one{const_cast<std::byte*>(from.data()), from.size()};
    return sealed_->transmit(fd(), {&one, 1});
  }
  [[nodiscard]] transferred transmit(std::span<iovec> from) noexcept {
    if (sealed_ == nullptr) [[likely]]
      return tcp::transmit(fd(), from);
    return sealed_->transmit(fd(), from);
  }
  [[nodiscard]] transferred receive(std::span<std::byte> into) noexcept {
    if (sealed_ == nullptr) [[likely]]
      return tcp::receive(fd(), into);
    const iovec one{into.data(), into.size()};
    return sealed_->receive(fd(), {&one, 1});
  }
  [[nodiscard]] transferred receive(std::span<iovec> into) noexcept {
    if (sealed_ == nullptr) [[likely]]
      return tcp::receive(fd(), into);
    return sealed_->receive(fd(), into);
  }

  /// Bytes of units moved, both ways: also those of one that is under way. Plain: 0.
  [[nodiscard]] std::uint64_t moved_in_units() const noexcept {
    return sealed_ == nullptr ? 0 : sealed_->moved();
  }

 private:
  unique_fd fd_;
  std::unique_ptr<sealed_stream> sealed_;
};

}  // namespace heddle::transport::tcp
