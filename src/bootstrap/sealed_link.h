// SPDX-License-Identifier: BSD-3-Clause
// sealed_link.h - messages between two processes that prove to each other that they know a secret.
//
//   guest   hello {nonce}                  frames ...
//   host                   hello {nonce}   frames ...
//
// Of the secret and both nonces come two keys, one for each direction, and every frame is encrypted
// and authenticated with its direction's, in order (libsodium's secretstream). So the first frame
// that a side can read proves the other; the secret itself never travels, and who only listens or
// scans gets no more than a hello.
#pragma once
#include <sodium.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "bootstrap/secret.h"

namespace heddle::bootstrap {

/// One end of it. Never waits: its owner polls fd() for events() and calls pump(). One thread.
class sealed_link {
 public:
  enum class side : std::uint8_t {
    guest,  ///< says hello first
    host,   ///< says nothing before that
  };

  /// Messages of more than `most_bytes` are not taken. Throws error: no randomness.
  sealed_link(unique_fd socket, const secret_bytes& secret, side mine, std::size_t most_bytes);
  /// From the next message on.
  void limit(std::size_t most_bytes) noexcept { most_bytes_ = most_bytes; }

  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  [[nodiscard]] short events() const noexcept;
  /// Nothing waits to be sent.
  [[nodiscard]] bool flushed() const noexcept { return out_.empty(); }
  /// The peer has said hello. The host: it may be anybody.
  [[nodiscard]] bool greeted() const noexcept { return greeted_; }
  /// Why nothing will come any more, in words for people; empty: something may.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  /// Takes a message for the peer; it leaves with pump(), after the hellos.
  void send(std::span<const std::byte> message);
  /// Sends and reads what can be now.
  void pump();
  /// The next message, and with the first one the proof of who sent it.
  [[nodiscard]] std::optional<std::vector<std::byte>> next();

 private:
  using bytes = std::vector<std::byte>;
  using stream = crypto_secretstream_xchacha20poly1305_state;

  void receive();
  void flush();
  void greet();
  void take_hello();
  void make_keys(std::span<const std::byte> guest_nonce, std::span<const std::byte> host_nonce);
  void seal(std::span<const std::byte> message);
  void break_up(const char* why);
  void drop(std::size_t count);

  unique_fd socket_;
  secret_bytes secret_;
  side mine_;
  std::size_t most_bytes_;
  secret_bytes nonce_, key_in_{}, key_out_{};
  stream in_stream_{}, out_stream_{};
  bool greeted_ = false, opened_ = false, sealed_ = false;  // hello heard; streams in and out begun
  bytes in_, out_;
  std::vector<bytes> waiting_;  // for the peer's hello
  std::string problem_;
};

}  // namespace heddle::bootstrap
