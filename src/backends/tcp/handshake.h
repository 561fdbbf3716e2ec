// SPDX-License-Identifier: BSD-3-Clause
// handshake.h - both ends of the proof that a fresh connection is of this job, without blocking.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "backends/tcp/hello.h"
#include "backends/tcp/stream.h"

namespace heddle::transport::tcp {

/// Drives one connection from its making to the point where frames may follow. Takes from the
/// socket exactly the handshake's bytes. See hello.h for what is said.
class handshake {
 public:
  enum class state : std::uint8_t { pending, done, failed };

  /// The end that connects, and whom it wants: `mine` but for its nonce.
  static handshake initiate(unique_fd fd, hello mine, std::span<const std::byte, 32> secret);
  /// The end that accepted, as rank `self` of `size`.
  static handshake accept(unique_fd fd, std::uint32_t self, std::uint32_t size,
                          std::span<const std::byte, 32> secret, algorithm_set algorithms);

  /// Goes as far as the socket allows. Failed: hang up, nothing the peer said is to be used.
  state advance() noexcept;
  /// Pending: has `epoll` tell when advance() can go on; the same one each time.
  void wait_in(int epoll) noexcept;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Of the acceptor: the peer says that it is a rank of this job, and has been answered. Its proof
  /// is all that is missing; when that has left, the peer takes itself for connected.
  [[nodiscard]] bool has_answered() const noexcept {
    return role_ == role::acceptor && to_get_ == all;
  }
  /// Done: who it is and, of the acceptor, what for.
  [[nodiscard]] const hello& peer() const noexcept { return peer_; }
  /// Done: what frames travel on.
  [[nodiscard]] stream release();
  /// Failed: the system's reason (of errno); 0: the peer hung up, or could not prove to be of the
  /// job.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// Failed: the peer is of the job, but one of us encrypts and the other does not, or by no
  /// algorithm that both have.
  [[nodiscard]] bool disagrees() const noexcept { return disagrees_; }

 private:
  /// What either side says.
  struct words {
    hello_image image;
    proof proven;
  };
  static constexpr std::size_t all = sizeof(words);
  static_assert(all == hello_bytes + proof_bytes);

  handshake(unique_fd fd, role self, std::span<const std::byte, 32> secret) noexcept
      : fd_(std::move(fd)), role_(self), secret_(secret) {}
  bool move(transferred t, std::size_t& moved) noexcept;
  state step() noexcept;
  state meet_initiator() noexcept;
  state meet_acceptor() noexcept;
  [[nodiscard]] proof proof_of(role prover) const noexcept;
  [[nodiscard]] cipher::key key_of(role speaker) const noexcept;
  [[nodiscard]] bool agreed() const noexcept;

  unique_fd fd_;
  role role_;
  std::span<const std::byte, 32> secret_;
  std::uint32_t size_ = 0;
  hello self_, peer_;
  words mine_{}, theirs_{};
  std::size_t sent_ = 0, to_send_ = 0;  // of mine_, from its beginning
  std::size_t got_ = 0, to_get_ = 0;    // of theirs_
  bool failed_ = false, disagrees_ = false;
  int error_ = 0;
  std::uint32_t watched_ = 0;  // what the set in which it waits tells of
};

}  // namespace heddle::transport::tcp
