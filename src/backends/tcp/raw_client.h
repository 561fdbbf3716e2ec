// SPDX-License-Identifier: BSD-3-Clause
// raw_client.h - for tests: a client that says whatever it likes to a rank's listening socket.
#pragma once
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/tcp/address.h"
#include "backends/tcp/frame.h"
#include "backends/tcp/hello.h"
#include "backends/tcp/stream.h"
#include "backends/tcp/test_job.h"

namespace heddle::transport::tcp {

class raw_client {
 public:
  explicit raw_client(const test_node& to) {
    const auto listening = parse_whereabouts(to.dev->address());
    const socket_address at = to_socket(listening->addresses.front());
    unique_fd fd(::socket(at.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), at.get(), at.length), 0);
    stream_ = stream(std::move(fd));
    algorithms_ = listening->algorithms;
  }
  void say(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const transferred t = stream_.transmit(bytes);
      if (t.bytes == 0) return;  // hung up, or full: what the tests look at comes later
      bytes = bytes.subspan(t.bytes);
    }
  }
  /// What has come so far.
  std::vector<std::byte> hear() {
    std::array<std::byte, 4096> some;
    for (;;) {
      const transferred t = stream_.receive(some);
      closed_ = closed_ || t.kind == transferred::kind_t::ended ||
                (t.kind == transferred::kind_t::broken && t.code == ECONNRESET);
      if (t.bytes == 0) return heard_;
      heard_.insert(heard_.end(), some.begin(),
                    some.begin() + static_cast<std::ptrdiff_t>(t.bytes));
    }
  }
  /// True when the other side has hung up.
  bool closed() {
    (void)hear();
    return closed_;
  }
  /// Forgets what came.
  void forget() { heard_.clear(); }

  /// A handshake as rank `from`, with whatever secret, after which all is encrypted if the other
  /// side wants that. False: hung up on.
  bool introduce(test_job& job, rank from, rank to, std::uint16_t lane = 0,
                 std::span<const std::byte, 32> secret = test_secret) {
    const hello h{.to_lane = lane,
                  .from = static_cast<std::uint32_t>(from),
                  .to = static_cast<std::uint32_t>(to),
                  .from_lane = lane,
                  .algorithms = algorithms_,
                  .random = fresh_nonce()};
    const auto mine = encode(h);
    say(mine);
    const std::size_t wanted = hello_bytes + proof_bytes;
    EXPECT_TRUE(job.until([&] { return closed() || hear().size() >= wanted; }));
    if (closed()) return false;
    hello_image theirs;
    std::copy_n(heard_.begin(), theirs.size(), theirs.begin());
    forget();
    say(prove(secret, role::initiator, mine, theirs));
    const algorithm which = best_of(algorithms_, algorithms_);
    if (which == algorithm::none) return true;
    const auto key = [&](role speaker) { return frame_key(secret, speaker, mine, theirs); };
    stream_ = stream(stream_.release(), std::make_unique<sealed_stream>(sealed_stream::keys{
                                            which, key(role::initiator), key(role::acceptor)}));
    return true;
  }
  /// The same as a rank that keeps the rules: has its connection chosen, too.
  bool join(test_job& job, rank from, rank to) {
    if (!introduce(job, from, to)) return false;
    const bool chosen = job.until([&] { return hear().size() >= common_header; });
    forget();
    return chosen;
  }
  void end() { stream_ = {}; }
  [[nodiscard]] int fd() const { return stream_.fd(); }

 private:
  stream stream_;
  algorithm_set algorithms_ = 0;
  std::vector<std::byte> heard_;
  bool closed_ = false;
};

}  // namespace heddle::transport::tcp
