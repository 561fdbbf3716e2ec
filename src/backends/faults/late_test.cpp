// SPDX-License-Identifier: BSD-3-Clause
// late_test.cpp - data that HEDDLE_FAULTS makes late waits, and only that.
#include <gtest/gtest.h>

#include <array>

#include "backends/faults/faults.h"
#include "backends/faults/scripted_endpoint.h"

namespace heddle::transport {
namespace {

/// An endpoint of rank 0 over a scripted one.
struct late_rig {
  script inner;
  std::unique_ptr<device> outer;
  std::unique_ptr<endpoint> port;

  explicit late_rig(const char* faults)
      : outer(make_faulty(std::make_unique<scripted_device>(inner), parse_faults(faults, 0))),
        port(outer->make_endpoint(0)) {}

  /// How many ops the inner endpoint has got after this one was posted.
  std::size_t after_post(op& o, op_kind kind, rank peer) {
    o.kind = kind;
    o.to = port->reach(peer, 0);
    std::array<op*, 1> one{&o};
    EXPECT_EQ(port->post(one).accepted, 1u);
    return inner.posted.size();
  }
  void poll() {
    std::array<event, 8> events;
    (void)port->poll(events);
  }
};

constexpr const char* forever = "late=0>1:1000000";

TEST(LateFaults, HoldBackWhatGoesTheLateWayAndNothingElse) {
  late_rig r(forever);
  op late, other;
  EXPECT_EQ(r.after_post(late, op_kind::send, 1), 0u);
  EXPECT_EQ(r.after_post(other, op_kind::send, 2), 1u);
  r.poll();
  EXPECT_EQ(r.inner.posted.size(), 1u);
  EXPECT_FALSE(r.port->arm()) << "nobody would wake the sleeper when the time has come";
}

TEST(LateFaults, TakeTheDataOfAGetToComeFromThePeer) {
  late_rig r(forever);
  op get, put;
  EXPECT_EQ(r.after_post(get, op_kind::get, 1), 1u);
  EXPECT_EQ(r.after_post(put, op_kind::put, 1), 1u) << "its data goes there";
}

TEST(LateFaults, LetItGoWhenItsTimeHasCome) {
  late_rig r("late=0>1:1");
  op late;
  r.after_post(late, op_kind::send, 1);
  while (r.inner.posted.empty()) r.poll();
  EXPECT_EQ(r.inner.posted.size(), 1u);
}

}  // namespace
}  // namespace heddle::transport
