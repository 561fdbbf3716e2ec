// handshake.h - both ends of the proof that a fresh connection is of this job, without blocking.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/tcp/hello.h"
#include "backends/tcp/socket.h"

namespace heddle::transport::tcp {

/// Drives one connection from its making to the point where frames may follow. Takes from the
/// socket exactly the handshake's bytes. See hello.h for what is said.
class handshake {
 public:
  enum class state : std::uint8_t { pending, done, failed };

  /// The end that connected, and whom it wants: `mine` but for its nonce.
  static handshake initiate(unique_fd fd, hello mine, std::span<const std::byte, 32> secret);
  /// The end that accepted, as rank `self` of `size`.
  static handshake accept(unique_fd fd, std::uint32_t self, std::uint32_t size,
                          std::span<const std::byte, 32> secret);

  /// Goes as far as the socket allows. Failed: hang up, nothing the peer said is to be used.
  state advance() noexcept;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Pending: has `epoll` tell when advance() can go on; the same one each time.
  void wait_in(int epoll) noexcept;
  /// Acceptor, done: who it is and what for.
  [[nodiscard]] const hello& peer() const noexcept { return theirs_; }
  [[nodiscard]] unique_fd release() noexcept { return std::move(fd_); }
  /// Failed: the system's reason (of errno); 0: the peer hung up, or could not prove to be of the
  /// job.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  handshake(unique_fd fd, role role, std::span<const std::byte, 32> secret) noexcept;

  bool write_out() noexcept;
  bool read_in() noexcept;
  state step() noexcept;
  state meet_initiator() noexcept;
  state meet_acceptor() noexcept;
  state check_initiator() noexcept;
  void queue(std::span<const std::byte> bytes) noexcept;
  void expect(std::size_t bytes) noexcept;
  [[nodiscard]] hello_image image_read() const noexcept;
  [[nodiscard]] proof proof_read(std::size_t at) const noexcept;

  static constexpr std::size_t longest = hello_bytes + proof_bytes;
  unique_fd fd_;
  role role_;
  std::span<const std::byte, 32> secret_;
  std::uint32_t size_ = 0;
  bool connecting_ = false, met_ = false, last_write_ = false, broken_ = false;
  int error_ = 0;
  std::uint32_t watched_ = 0;  // what the set in which it waits tells of
  hello mine_, theirs_;
  hello_image my_image_{}, their_image_{};
  std::array<std::byte, longest> in_, out_;
  std::size_t got_ = 0, to_get_ = 0, sent_ = 0, to_send_ = 0;
};

}  // namespace heddle::transport::tcp
