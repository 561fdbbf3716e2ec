// SPDX-License-Identifier: BSD-3-Clause
// test_job.h - for the tests of this folder: ranks of one job inside one process, over tcp.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/tcp/device.h"
#include "backends/tcp/interfaces.h"

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

/// `like`, encrypted if the test's environment says so.
inline settings as_wanted_here(settings like) {
  const environment here = this_environment();
  if (const auto wanted = here.find("HEDDLE_TCP_CRYPT"); wanted != here.end())
    like.others.insert(*wanted);
  return like;
}

/// An op of a test: copies of it are posted, and it is known by its number.
struct test_op : op {
  rank whom = 0;
  std::uint64_t number = 0;
};

/// One rank with one lane, and what its endpoint has told.
struct test_node {
  memory::region_table regions;
  settings config;
  std::unique_ptr<device> dev;
  std::unique_ptr<endpoint> lane;
  std::vector<std::vector<std::byte>> messages;
  std::map<std::uint64_t, status> ended;
  std::vector<std::unique_ptr<test_op>> posted;  // until the end, whether they are over or not
  std::vector<rank> lost;
  std::vector<std::string> reasons;  // of each that was lost
  std::vector<int> wanted;

  /// As endpoint::post.
  post_result post(std::span<const test_op> ops) {
    std::vector<op*> copies;
    for (const test_op& o : ops) {
      copies.push_back(posted.emplace_back(std::make_unique<test_op>(o)).get());
      copies.back()->to = lane->reach(o.whom, 0);
    }
    return lane->post(copies);
  }
  /// One: done, posted, or why not.
  status post(const test_op& o) {
    const post_result r = post(std::span(&o, 1));
    if (r.accepted == 0) return r.reason;
    return posted.back()->over ? status::done : status::posted;
  }
  std::size_t poll(std::size_t most = 16) {
    if (lane == nullptr) return 0;
    std::vector<event> events(most);
    const std::size_t n = lane->poll(events);
    for (std::size_t i = 0; i < n; ++i) note(events[i]);
    return n;
  }
  void note(const event& e) {
    if (e.kind == event::kind_t::arrived) {
      const auto body = e.bytes.subspan(std::min(sizeof(message_head), e.bytes.size()));
      messages.emplace_back(body.begin(), body.end());
    }
    if (e.kind == event::kind_t::peer_lost) {
      lost.push_back(e.from->peer);
      reasons.emplace_back(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size());
    }
    if (e.kind != event::kind_t::ended) return;
    const std::uint64_t number = static_cast<const test_op*>(e.of)->number;
    EXPECT_FALSE(ended.contains(number)) << "told twice: " << number;
    ended[number] = e.code;
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
    n->config = as_wanted_here(like);
    n->dev = std::make_unique<tcp_device>(context{.self = self,
                                                  .size = size,
                                                  .job_secret = test_secret,
                                                  .config = &n->config,
                                                  .regions = &n->regions},
                                          choose_rails(iface, list_interfaces()).front());
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
  status post(std::size_t from, const test_op& o) {
    status s = status::busy_queue;
    EXPECT_TRUE(until([&] { return (s = nodes[from]->post(o)) != status::busy_queue; }));
    return s;
  }
  /// Posts and pumps until it has ended; how it did.
  status run(std::size_t from, test_op o) {
    o.number = ++last_number;
    const status s = post(from, o);
    if (s != status::posted) return s;
    auto& ended = nodes[from]->ended;
    EXPECT_TRUE(until([&] { return ended.contains(o.number); }));
    return ended[o.number];
  }
  std::uint64_t last_number = 0;
};

inline test_op send_op(rank to, std::span<const std::byte> data) {
  test_op o;
  o.whom = to;
  o.memory = only_read(data);
  return o;
}
inline test_op put_op(rank to, memory::region_ref r, std::uint64_t offset,
                      std::span<const std::byte> data) {
  test_op o = send_op(to, data);
  o.kind = op_kind::put;
  o.region = r;
  o.offset = offset;
  return o;
}
inline test_op get_op(rank from, memory::region_ref r, std::uint64_t offset,
                      std::span<std::byte> into) {
  test_op o;
  o.kind = op_kind::get;
  o.whom = from;
  o.region = r;
  o.offset = offset;
  o.memory = into;
  return o;
}
inline test_op atomic_at(rank at, memory::region_ref r, std::uint64_t offset, std::uint64_t operand,
                         std::span<std::byte> old = {}) {
  test_op o;
  o.kind = op_kind::atomic;
  o.whom = at;
  o.region = r;
  o.offset = offset;
  o.operand = operand;
  o.memory = old;
  return o;
}

}  // namespace heddle::transport::tcp
