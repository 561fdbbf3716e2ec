// raw_client.h - for tests: a client that says whatever it likes to a rank's listening socket.
#pragma once
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <chrono>
#include <vector>

#include "backends/tcp/address.h"
#include "backends/tcp/frame.h"
#include "backends/tcp/hello.h"
#include "backends/tcp/test_job.h"
#include "base/fd.h"

namespace heddle::transport::tcp {

class raw_client {
 public:
  explicit raw_client(const test_node& to) {
    const auto listening = parse_addresses(to.dev->address());
    const socket_address at = to_socket(listening->front());
    fd_ = unique_fd(::socket(at.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd_.get(), at.get(), at.length), 0);
  }
  void say(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n <= 0) return;  // hung up, or full: what the tests look at comes later
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  /// What has come so far.
  std::vector<std::byte> hear() {
    std::array<std::byte, 4096> some;
    for (;;) {
      const ssize_t n = ::recv(fd_.get(), some.data(), some.size(), MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno == ECONNRESET)) closed_ = true;
      if (n <= 0) return heard_;
      heard_.insert(heard_.end(), some.begin(), some.begin() + n);
    }
  }
  /// True when the other side has hung up.
  bool closed() {
    (void)hear();
    return closed_;
  }
  /// Forgets what came.
  void forget() { heard_.clear(); }

  /// A handshake as rank `from`, with whatever secret. False: hung up on.
  bool introduce(test_job& job, rank from, rank to, std::uint16_t lane = 0,
                 std::span<const std::byte, 32> secret = test_secret) {
    hello h{static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), lane, lane,
            fresh_nonce()};
    const auto mine = encode(h);
    say(mine);
    const std::size_t wanted = hello_bytes + proof_bytes;
    EXPECT_TRUE(job.until([&] { return closed() || hear().size() >= wanted; }));
    if (closed()) return false;
    hello_image theirs;
    std::copy_n(heard_.begin(), theirs.size(), theirs.begin());
    forget();
    say(prove(secret, role::initiator, mine, theirs));
    return true;
  }
  /// The same as a rank that keeps the rules: has its connection chosen, too.
  bool join(test_job& job, rank from, rank to) {
    if (!introduce(job, from, to)) return false;
    const bool chosen = job.until([&] { return hear().size() >= common_header; });
    forget();
    return chosen;
  }
  void end() { fd_.reset(); }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  unique_fd fd_;
  std::vector<std::byte> heard_;
  bool closed_ = false;
};

}  // namespace heddle::transport::tcp
