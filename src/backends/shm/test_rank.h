// SPDX-License-Identifier: BSD-3-Clause
// test_rank.h - one rank of the shm tests: a device, its regions, one lane, and what arrived there.
#pragma once
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/shm/device.h"
#include "backends/shm/shm.h"

namespace heddle::transport::shm {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// A small ring, so that filling it is quick.
inline settings small_rings() {
  settings config;
  config.others["HEDDLE_SHM_RING_BYTES"] = "4K";
  return config;
}

class test_rank {
 public:
  explicit test_rank(rank number, const settings& config = small_rings())
      : config_(config), number_(number) {
    dev = std::make_unique<shm::shm_device>(context{number, 4, 4, secret_, &config_, &regions});
  }
  void open_lane(int number = 0) {
    lane = dev->make_endpoint(number);
    lane_ = number;
  }
  [[nodiscard]] rank number() const { return number_; }

  status send(rank to, std::string_view text) {
    op one;
    one.to = lane->reach(to, lane_);
    if (one.to == nullptr) return status::invalid;
    one.header = bytes_of(text).first(text.size() / 2);
    one.memory = only_read(bytes_of(text).subspan(text.size() / 2));
    return lane->post(one);
  }
  status copy(op_kind kind, rank to, memory::region_ref region, std::uint64_t offset,
              std::span<std::byte> here) {
    op one;
    one.kind = kind;
    one.to = lane->reach(to, lane_);
    one.region = region;
    one.offset = offset;
    one.memory = here;
    return lane->post(one);
  }

  void drop(rank peer) { lane->drop(*lane->reach(peer, lane_)); }
  /// One poll; texts go to `got`, ends to `lost`.
  std::size_t poll(std::size_t events = 16) {
    std::vector<event> out(events);
    const std::size_t count = lane->poll(out);
    for (const event& e : std::span(out).first(count)) {
      if (e.kind == event::kind_t::peer_lost) lost.push_back(e.from->peer);
      if (e.kind != event::kind_t::arrived) continue;
      const auto body = e.bytes.subspan(sizeof(message_head));
      got.emplace_back(reinterpret_cast<const char*>(body.data()), body.size());
      from.push_back(e.from->peer);
    }
    return count;
  }
  /// Sleeps as an engine does until something came. False: nothing came in ten seconds.
  bool sleep() {
    for (;;) {
      if (poll() != 0) return true;
      if (!lane->arm()) continue;
      pollfd wait{lane->fd(), POLLIN, 0};
      if (::poll(&wait, 1, 10'000) != 1) return false;
    }
  }

  memory::region_table regions;
  std::unique_ptr<device> dev;
  std::unique_ptr<endpoint> lane;
  std::vector<std::string> got;
  std::vector<rank> from, lost;

 private:
  settings config_;
  rank number_;
  int lane_ = 0;
  std::array<std::byte, 32> secret_{};
};

/// Ranks 0 .. n-1 in this process, all known to each other, each with lane 0.
inline std::vector<std::unique_ptr<test_rank>> test_ranks(int n,
                                                          const settings& config = small_rings()) {
  std::vector<std::unique_ptr<test_rank>> ranks;
  for (int i = 0; i < n; ++i) ranks.push_back(std::make_unique<test_rank>(i, config));
  for (auto& a : ranks) {
    for (auto& b : ranks) EXPECT_EQ(a->dev->add_peer(b->number(), b->dev->address(), true), "");
  }
  for (auto& each : ranks) each->open_lane();
  return ranks;
}

}  // namespace heddle::transport::shm
