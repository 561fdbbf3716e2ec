// test_job.h - for the tests of this folder: ranks of one job inside one process, over tcp.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/tcp/device.h"

namespace heddle::transport::tcp {

inline constexpr std::array<std::byte, 32> test_secret{std::byte{7}, std::byte{42}};

inline std::vector<std::byte> pattern(std::size_t bytes, unsigned seed = 1) {
  std::vector<std::byte> out(bytes);
  std::uint32_t x = seed * 2654435761u + 1;
  for (auto& b : out) {
    x = x * 1664525u + 1013904223u;
    b = static_cast<std::byte>(x >> 24);
  }
  return out;
}

/// Large transfers in many pieces.
inline settings small_fragments() {
  settings config;
  config.others["HEDDLE_TCP_CHUNK_BYTES"] = "128K";
  return config;
}

/// One rank with one lane, and what its endpoint has told.
struct test_node {
  memory::region_table regions;
  settings config;
  std::unique_ptr<device> dev;
  std::unique_ptr<endpoint> lane;
  std::vector<std::vector<std::byte>> messages;
  std::map<std::uint64_t, status> ended;
  std::vector<rank> lost;
  std::vector<int> wanted;

  std::size_t poll(std::size_t most = 16) {
    if (lane == nullptr) return 0;
    std::vector<event> events(most);
    const std::size_t n = lane->poll(events);
    for (std::size_t i = 0; i < n; ++i) note(events[i]);
    return n;
  }
  void note(const event& e) {
    if (e.kind == event::kind_t::arrived) messages.emplace_back(e.bytes.begin(), e.bytes.end());
    if (e.kind == event::kind_t::peer_lost) lost.push_back(e.peer);
    if (e.kind != event::kind_t::ended) return;
    EXPECT_FALSE(ended.contains(e.cookie)) << "told twice: " << e.cookie;
    ended[e.cookie] = e.code;
  }
  void serve() {
    if (dev == nullptr) return;
    for (int w = dev->serve(); w >= 0; w = dev->serve()) wanted.push_back(w);
  }
};

struct test_job {
  std::vector<std::unique_ptr<test_node>> nodes;

  explicit test_job(int size, const std::string& iface = "lo",
                    const settings& like = small_fragments()) {
    for (rank r = 0; r < size; ++r) nodes.push_back(open(r, size, iface, like));
    for (auto& n : nodes)
      for (rank r = 0; r < size; ++r)
        EXPECT_EQ(n->dev->add_peer(r, nodes[static_cast<std::size_t>(r)]->dev->address(), true),
                  "");
  }
  static std::unique_ptr<test_node> open(rank self, int size, const std::string& iface,
                                         const settings& like = small_fragments()) {
    auto n = std::make_unique<test_node>();
    n->config = like;
    n->config.others["HEDDLE_TCP_IFACE"] = iface;
    n->dev = std::make_unique<tcp_device>(context{.self = self,
                                                  .size = size,
                                                  .job_secret = test_secret,
                                                  .config = &n->config,
                                                  .regions = &n->regions});
    n->lane = n->dev->make_endpoint(0);
    return n;
  }
  test_node& operator[](std::size_t i) { return *nodes[i]; }

  void pump() {
    for (auto& n : nodes) {
      n->serve();
      n->poll();
    }
  }
  /// Pumps until `happened`; fails the test when that takes longer than any machine needs.
  bool until(const std::function<bool()>& happened) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!happened()) {
      if (std::chrono::steady_clock::now() > end) return false;
      pump();
    }
    return true;
  }
  /// Posts `o` from rank `from`, pumping while it is refused.
  status post(std::size_t from, op& o) {
    post_result r;
    const bool taken = until([&] {
      r = nodes[from]->lane->post({&o, 1});
      return r.accepted == 1 || r.reason == status::peer_lost;
    });
    EXPECT_TRUE(taken);
    return r.accepted == 1 ? o.finished : r.reason;
  }
  /// Posts and pumps until it has ended; how it did.
  status run(std::size_t from, op o) {
    o.cookie = ++last_cookie;
    const status s = post(from, o);
    if (s != status::posted) return s;
    auto& ended = nodes[from]->ended;
    EXPECT_TRUE(until([&] { return ended.contains(o.cookie); }));
    return ended[o.cookie];
  }
  std::uint64_t last_cookie = 0;
};

inline op send_op(rank to, std::span<const std::byte> data) {
  op o;
  o.peer = to;
  o.data = data;
  return o;
}
inline op put_op(rank to, memory::region_ref r, std::uint64_t offset,
                 std::span<const std::byte> data) {
  op o = send_op(to, data);
  o.kind = op_kind::put;
  o.region = r;
  o.offset = offset;
  return o;
}
inline op get_op(rank from, memory::region_ref r, std::uint64_t offset, std::span<std::byte> into) {
  op o;
  o.kind = op_kind::get;
  o.peer = from;
  o.region = r;
  o.offset = offset;
  o.into = into;
  return o;
}
inline op atomic_at(rank at, memory::region_ref r, std::uint64_t offset, std::uint64_t operand,
                    std::span<std::byte> old = {}) {
  op o;
  o.kind = op_kind::atomic;
  o.peer = at;
  o.region = r;
  o.offset = offset;
  o.operand = operand;
  o.into = old;
  return o;
}

}  // namespace heddle::transport::tcp
