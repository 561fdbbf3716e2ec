// SPDX-License-Identifier: BSD-3-Clause
// relay.h - for tests: somebody on the way between ranks, who records what passes and can change
// it.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/tcp/address.h"
#include "backends/tcp/socket.h"
#include "backends/tcp/test_job.h"

namespace heddle::transport::tcp {

/// Stands where a rank is said to be, and passes everything on to where it is.
class relay {
 public:
  using bytes = std::vector<std::byte>;
  /// One connection: what was said so far, to the rank and from it.
  struct record {
    bytes there, back;
  };
  /// Sees, and may change, what is about to be passed on, behind what was `before` it.
  using hand = std::function<void(const bytes& before, std::span<std::byte> now)>;

  /// Between the ranks and `to`, which listens at 127.0.0.1.
  explicit relay(const device& to, const rail_address& here = *parse_ip("127.0.0.1"))
      : said_(*parse_whereabouts(to.address())), to_(said_.addresses.front()), here_(here) {
    to_.ip = parse_ip("127.0.0.1")->ip;
    listener_ = listen_at(here_);
    said_.addresses = {here_};
  }
  /// For add_peer() in place of the rank's own.
  [[nodiscard]] bytes address() const { return encode(said_); }
  [[nodiscard]] whereabouts& said() { return said_; }

  hand to_the_rank, from_the_rank;

  void pump() {
    if (unique_fd fd = accept_from(listener_.get()); fd) {
      pairs_.push_back({std::move(fd), connect_to(*parse_ip("127.0.0.1"), to_), {}, {}, {}});
      EXPECT_TRUE(pairs_.back().far);
    }
    for (pair& p : pairs_) {
      pass(p.near, p.far, p.forth, p.seen.there, to_the_rank);
      pass(p.far, p.near, p.back, p.seen.back, from_the_rank);
    }
  }
  [[nodiscard]] std::vector<record> records() const {
    std::vector<record> all;
    for (const pair& p : pairs_) all.push_back(p.seen);
    return all;
  }

 private:
  struct pair {
    unique_fd near, far;
    bytes forth, back;  // waiting to be passed on
    record seen;
  };

  static void pass(unique_fd& from, unique_fd& to, bytes& waiting, bytes& seen,
                   const hand& change) {
    if (!to) return;
    std::array<std::byte, 65536> some;
    if (waiting.empty() && from) {
      const transferred t = receive(from.get(), std::span(some));
      if (t.kind == transferred::kind_t::some) {
        const auto now = std::span(some).first(t.bytes);
        if (change) change(seen, now);
        waiting.assign(now.begin(), now.end());
        seen.insert(seen.end(), now.begin(), now.end());
      }
      if (t.kind == transferred::kind_t::ended || t.kind == transferred::kind_t::broken) {
        from.reset();
        to.reset();
        return;
      }
    }
    if (waiting.empty()) return;
    const transferred t = transmit(to.get(), waiting);
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(t.bytes));
  }

  whereabouts said_;
  rail_address to_, here_;
  unique_fd listener_;
  std::vector<pair> pairs_;
};

}  // namespace heddle::transport::tcp
