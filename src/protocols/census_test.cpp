// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/census.h"

#include <memory>
#include <utility>
#include <vector>

#include "support/scripted_world.h"

namespace heddle::protocols {
namespace {

class Census : public test::ScriptedWorld {
 protected:
  /// A put of so many bytes to rank 1 that waits for its answer.
  request& begin_put(std::size_t bytes) {
    command c;
    c.kind = command_kind::put;
    c.peer = 1;
    c.memory = std::span(data_).first(bytes);
    request& r = ops_.pool().take();
    r.memory = c.memory;
    ops_.begin_direct(r, *peers_.reach(1), c.kind, c.done);
    return r;
  }

  const std::vector<std::unique_ptr<transport::endpoint>> endpoints_ = make_endpoints();
  const surroundings where_ = where();
  peer_table peers_{where_, endpoints_};
  operations ops_{8};
  matcher matcher_;
  port_counters counters_;
  delivery_batch batch_;
  census census_{where_, ops_, peers_, matcher_, counters_};
  std::vector<std::byte> data_ = std::vector<std::byte>(100);
};

TEST_F(Census, TellsSinceWhenEachThingIsKnownToWait) {
  begin_put(10);
  census_.stamp(5);
  matcher_.receives.post(1, 7, {}, {});
  unexpected& message = matcher_.messages.fresh();
  message.source = 1;
  message.tag = 8;
  matcher_.messages.keep(message);
  const port_report found = census_.report(6);
  ASSERT_EQ(found.operations.size(), 1u);
  EXPECT_EQ(found.operations[0].since_ns, 5u) << "the first look counts";
  ASSERT_EQ(found.receives.size(), 1u);
  EXPECT_EQ(found.receives[0].since_ns, 6u);
  ASSERT_EQ(found.messages.size(), 1u);
  EXPECT_EQ(found.messages[0].tag, 8u);
}

TEST_F(Census, TellsWhatAnOperationIsAndWhatItWaitsFor) {
  begin_put(10);
  const port_report found = census_.report(1);
  ASSERT_EQ(found.operations.size(), 1u);
  EXPECT_EQ(found.operations[0].kind, "put");
  EXPECT_EQ(found.operations[0].stage, "the wire has it");
  EXPECT_EQ(found.operations[0].peer, 1);
  EXPECT_EQ(found.operations[0].bytes, 10u);
}

TEST_F(Census, CountsAllButTellsOnlyOfTheOldest) {
  for (std::size_t i = 0; i < port_report::most; ++i) matcher_.receives.post(1, 7, {}, {});
  census_.stamp(5);
  matcher_.receives.post(1, 8, {}, {});
  const port_report found = census_.report(6);
  EXPECT_EQ(found.receive_count, port_report::most + 1);
  ASSERT_EQ(found.receives.size(), port_report::most);
  EXPECT_EQ(found.receives.back().since_ns, 5u);
}

TEST_F(Census, CountsPeersAndTheLane) {
  begin_put(10);
  counters_.eager.add(3);
  std::vector<peer_counters> peers;
  census_.count(peers);
  ASSERT_EQ(peers.size(), 1u);
  EXPECT_EQ(peers[0].peer, 1);
  EXPECT_EQ(peers[0].accesses, 1u);
  lane_counters lane;
  census_.count(lane);
  EXPECT_EQ(lane.in_flight, 1u);
  EXPECT_EQ(lane.in_flight_bytes, 10u);
  EXPECT_EQ(lane.eager, 3u);
}

}  // namespace
}  // namespace heddle::protocols
