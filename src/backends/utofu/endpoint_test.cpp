// SPDX-License-Identifier: BSD-3-Clause
// endpoint_test.cpp - lanes of several processes, all in this one: each moves only when it is
// polled, so a test stops a process by leaving it alone.
#include "backends/utofu/endpoint.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/utofu/device.h"
#include "support/resource_limits.h"
#include "support/scale.h"

namespace heddle::transport::utofu {
namespace {

using namespace std::chrono_literals;

/// One process with one lane.
struct process {
  process(rank self, const settings& config)
      : device({self, 4, 4, secret, &config, &regions}), lane(device.make_endpoint(0)) {}

  /// A message of so many bytes, with the engine's head, to the lane of a peer.
  status send(rank to, std::size_t bytes = 24) {
    static const std::vector<std::byte> data(max_message);
    op o;
    o.to = lane->reach(to, 0);
    o.memory = only_read(std::span(data).first(bytes - sizeof o.head));
    return lane->post(o);
  }
  /// Gets `into` from a region of a peer.
  status get(rank from, memory::region_ref region) {
    access.kind = op_kind::get;
    access.to = lane->reach(from, 0);
    access.region = region;
    access.memory = into;
    return lane->post(access);
  }
  memory::region_ref expose(std::span<std::byte> what) {
    const memory::local_region made = regions.add(what, rights::all);
    device.expose(made);
    return made.ref;
  }
  void poll() {
    std::array<event, 16> events;
    const std::size_t count = lane->poll(events);
    for (std::size_t i = 0; i < count; ++i) {
      arrived += events[i].kind == event::kind_t::arrived ? 1 : 0;
      ended += events[i].kind == event::kind_t::ended ? 1 : 0;
      if (events[i].kind == event::kind_t::peer_lost)
        lost[events[i].from->peer] = {reinterpret_cast<const char*>(events[i].bytes.data()),
                                      events[i].bytes.size()};
    }
    lane->maintain();
  }
  [[nodiscard]] listener& door() { return device.listener_of(0); }

  static constexpr std::array<std::byte, 32> secret{};
  memory::region_table regions;
  utofu_device device;
  std::unique_ptr<endpoint> lane;
  int arrived = 0, ended = 0;
  op access;
  std::array<std::byte, 8> into{};
  std::map<rank, std::string> lost;  // with the reason
};

class UtofuEndpoint : public testing::Test {
 protected:
  UtofuEndpoint() { config.others["HEDDLE_UTOFU_LANES"] = "1"; }
  void start(rank count) {
    for (rank r = 0; r < count; ++r) all.push_back(std::make_unique<process>(r, config));
    for (const auto& one : all)
      for (rank r = 0; r < count; ++r)
        ASSERT_EQ(one->device.add_peer(r, all[static_cast<std::size_t>(r)]->device.address(), true),
                  "");
  }
  process& at(rank r) { return *all[static_cast<std::size_t>(r)]; }
  /// Polls these until it is so. False: it does not come to that.
  template <class F>
  bool until(const std::vector<rank>& polled, F happened) {
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (!happened()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      for (const rank r : polled) at(r).poll();
      std::this_thread::yield();
    }
    return true;
  }

  void connect(rank from, rank to) {
    ASSERT_TRUE(until({from, to}, [&] { return at(from).send(to) == status::done; }));
    ASSERT_TRUE(until({from, to}, [&] { return std::exchange(at(to).arrived, 0) == 1; }));
    for (int polls = 0; polls < 64; ++polls) at(to).poll();  // it tells that it has taken it
  }
  /// Sends to a peer that takes nothing until no more can go.
  void fill(rank from, rank to) {
    for (int tries = 0; tries < 100; ++tries)
      while (at(from).send(to, max_message) == status::done) at(from).poll();
  }

  settings config;
  std::vector<std::unique_ptr<process>> all;
};

/// What a process leaves that the receiver does not talk to.
grant request_of_nobody(std::uint32_t ticket) {
  grant g;
  g.ticket = ticket;
  g.check = check_sum(g);
  return g;
}

TEST_F(UtofuEndpoint, DrawsAnotherTicketWhenItsTurnHasPassed) {
  start(2);
  listener& door = at(1).door();
  door.tickets.set(listener::backlog);  // others were faster, and have not left their requests
  ASSERT_EQ(at(0).send(1), status::busy_queue);
  ASSERT_TRUE(until({0}, [&] { return door.tickets.get() > listener::backlog; }));
  for (std::uint32_t t = 0; t < listener::backlog; ++t) door.requests[t] = request_of_nobody(t);
  // Nobody polls rank 0 until its ticket has been passed over.
  ASSERT_TRUE(until({1}, [&] { return door.served.get() > listener::backlog; }));
  EXPECT_TRUE(until({0, 1}, [&] { return at(0).send(1) == status::done; }));
  EXPECT_TRUE(until({0, 1}, [&] { return at(1).arrived == 1; }));
}

TEST_F(UtofuEndpoint, PassesNoTicketOverForTheTimeInWhichItDidNotLook) {
  start(1);
  at(0).door().tickets.set(1);
  for (int look = 0; look < 3; ++look) {
    at(0).poll();
    std::this_thread::sleep_for(300ms);
  }
  EXPECT_EQ(at(0).door().served.get(), 0u);
}

TEST_F(UtofuEndpoint, GoesOnWithOthersWhileAPeerTakesNothing) {
  config.others["HEDDLE_UTOFU_MRQ"] = "128";
  start(3);
  connect(0, 1);
  connect(0, 2);
  fill(0, 1);
  std::vector<std::byte> memory(8);
  const memory::region_ref region = at(2).expose(memory);
  ASSERT_TRUE(until({0, 2}, [&] { return accepted(at(0).get(2, region)); }));
  EXPECT_TRUE(until({0, 2}, [&] { return at(0).ended == 1; }));
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(until({0, 2}, [&] { return at(0).send(2) == status::done; })) << i;
  EXPECT_TRUE(until({0, 2}, [&] { return at(2).arrived == 100; }));
}

TEST_F(UtofuEndpoint, LearnsThatAPeerIsGoneWhoseMessagesFillTheWindow) {
  config.others["HEDDLE_UTOFU_MRQ"] = "128";
  start(3);
  connect(0, 1);
  connect(0, 2);
  fill(0, 1);
  ASSERT_TRUE(until({0}, [&] { return at(0).send(2, max_message) == status::done; }));
  ASSERT_EQ(at(0).get(2, {}), status::busy_queue);
  all[1].reset();
  EXPECT_TRUE(until({0}, [&] { return at(0).lost.contains(1); }));
  EXPECT_EQ(at(0).lost.size(), 1u);
}

TEST_F(UtofuEndpoint, TakesTheMessageBehindAProbeOfItsOwnInThePollBeforeASleep) {
  start(2);
  connect(1, 0);
  at(0).lane->maintain();  // asks whether the peer lives
  ASSERT_EQ(at(1).send(0), status::done);
  std::array<event, 16> events;  // of both there are notices: the device acts within the calls
  EXPECT_EQ(at(0).lane->poll(events), 1u);
}

TEST(Slab, HasRoomForTheRingsAndAreasOfManyPeers) {
  const auto vcqs = make_vcqs(usable_tnis(), 1, 1);
  slab memory(*vcqs.front());
  constexpr std::size_t ring_bytes = 2 << 20;
  struct room {
    slab_place area = 0, ring = 0;
  };
  std::vector<room> rooms(100);
  for (room& r : rooms) {
    ASSERT_TRUE(memory.allocate(sizeof(peer_area), r.area));
    ASSERT_TRUE(memory.allocate(ring_bytes, r.ring));
    std::memcpy(memory.at(r.area), &r, sizeof r);  // that of none is another's
    std::memcpy(memory.at(r.ring) + ring_bytes - sizeof r, &r, sizeof r);
  }
  for (const room& r : rooms) {
    EXPECT_LE(tag_of(r.ring), unsigned{tag_last_slab});
    EXPECT_EQ(std::memcmp(memory.at(r.area), &r, sizeof r), 0);
    EXPECT_EQ(std::memcmp(memory.at(r.ring) + ring_bytes - sizeof r, &r, sizeof r), 0);
  }
}

TEST_F(UtofuEndpoint, LosesAPeerForWhoseMessagesThereIsNoMemoryAndSaysSo) {
  if (test::sanitized) GTEST_SKIP() << "UBSan looks by a pipe whether an object is there";
  config.others["HEDDLE_UTOFU_RING_BYTES"] = "2M";  // more than a lane has to begin with
  config.others["HEDDLE_UTOFU_MRQ"] = "128";        // rings are polled, so they are as long as that
  config.peer_timeout_ms = 20;
  start(2);
  const test::no_descriptors shortage;
  EXPECT_TRUE(until({0}, [&] {
    (void)at(0).send(1);
    return at(0).lost.contains(1);
  }));
  EXPECT_NE(at(0).lost[1].find("no memory"), std::string::npos) << at(0).lost[1];
}

}  // namespace
}  // namespace heddle::transport::utofu
