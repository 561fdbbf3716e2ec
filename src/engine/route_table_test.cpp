// SPDX-License-Identifier: BSD-3-Clause
// route_table_test.cpp - the choice of devices by lane, over devices that only have traits.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "backends/faults/scripted_endpoint.h"
#include "engine/routes.h"
#include "protocols/port.h"

namespace heddle::engine {
namespace {

using transport::only;
using transport::op_kind;

class RouteTable : public testing::Test {
 protected:
  /// Two ranks; the first device reaches both on `near` lanes, the second on `far`.
  routes both(transport::device& first, std::size_t near, transport::device& second,
              std::size_t far) {
    const std::array<routes::candidate, 2> devices{{{&first, 0}, {&second, second_backend_}}};
    routes made(devices, 2);
    for (rank peer = 0; peer < 2; ++peer) {
      made.add(0, peer, near);
      made.add(1, peer, far);
    }
    return made;
  }
  static transport::script a_nic() {
    transport::script s;
    s.native = only(op_kind::send) | only(op_kind::put) | only(op_kind::atomic);
    s.cpu_atomics = false;
    return s;
  }
  std::uint8_t second_backend_ = 1;
  transport::script plain_script_, nic_script_ = a_nic();
  transport::scripted_device plain_{plain_script_}, nic_{nic_script_};
};

TEST_F(RouteTable, ALaneThatTheBestDeviceDoesNotHaveGoesOverTheNext) {
  transport::scripted_device other(plain_script_);
  routes r = both(plain_, 24, other, 256);
  EXPECT_EQ(r.of(23).devices, (std::vector<transport::device*>{&plain_}));
  EXPECT_EQ(r.of(24).devices, (std::vector<transport::device*>{&other}));
  EXPECT_EQ(&r.of(24), &r.of(255));
}

TEST_F(RouteTable, ALaneThatNoDeviceHasIsLeftToTheBestToRefuse) {
  transport::scripted_device other(plain_script_);
  routes r = both(plain_, 24, other, 12);
  EXPECT_EQ(r.of(100).devices, (std::vector<transport::device*>{&plain_}));
}

TEST_F(RouteTable, OverADeviceThatNobodyIsRoutedOverThereIsNoEndpoint) {
  transport::scripted_device other(plain_script_);
  routes r = both(plain_, 256, other, 256);
  EXPECT_EQ(r.of(0).devices.size(), 1u);
}

TEST_F(RouteTable, ADeviceIsNeedlessForAPeerThatABetterOneReachesOnEveryLane) {
  transport::scripted_device other(plain_script_);
  const routes r = both(plain_, 256, other, 256);
  EXPECT_FALSE(r.needless(0, 1));
  EXPECT_TRUE(r.needless(1, 1));
  EXPECT_FALSE(both(plain_, 255, other, 256).needless(1, 1));
  EXPECT_FALSE(both(plain_, 256, nic_, 256).needless(1, 1));  // the atomics are its own
  second_backend_ = 0;
  EXPECT_FALSE(both(plain_, 256, other, 256).needless(1, 1)) << "it is another rail";
}

TEST_F(RouteTable, ADeviceThatPeersSendOverHasAnEndpointOnEachLaneThatItHas) {
  plain_script_.lanes = 24;
  transport::scripted_device few(plain_script_);
  routes r = both(plain_, 256, few, 24);
  EXPECT_EQ(r.used(), (std::set<std::size_t>{0}));
  r.hear(1);
  EXPECT_EQ(r.of(23).devices, (std::vector<transport::device*>{&plain_, &few}));
  EXPECT_EQ(r.of(24).devices, (std::vector<transport::device*>{&plain_}));
}

TEST_F(RouteTable, DevicesOfOneBackendAreRailsOnTheLanesThatBothHave) {
  second_backend_ = 0;
  transport::scripted_device other(plain_script_);
  routes r = both(plain_, 256, other, 24);
  EXPECT_EQ(r.of(0).devices, (std::vector<transport::device*>{&plain_, &other}));
  EXPECT_EQ(r.of(0).backends, (std::vector<std::uint8_t>{0, 0}));
  EXPECT_EQ(r.of(0).route, (std::vector<std::uint8_t>{0, 0}));
  EXPECT_EQ(r.of(24).devices, (std::vector<transport::device*>{&plain_}));
  EXPECT_EQ(r.used(), (std::set<std::size_t>{0, 1}));
}

TEST_F(RouteTable, AtomicsGoByTheNetworkThatDoesThemWhateverCarriesTheRest) {
  routes r = both(plain_, 256, nic_, 24);
  EXPECT_FALSE(r.cpu_does_atomics(1));
  const lane_routes& near = r.of(0);
  EXPECT_EQ(near.devices[near.route[1]], &plain_);
  EXPECT_EQ(near.devices[near.atomics[1]], &nic_);
}

TEST_F(RouteTable, WhereThatNetworkHasNoSuchLaneThereAreNoAtomics) {
  routes r = both(plain_, 256, nic_, 24);
  EXPECT_EQ(r.of(24).atomics[1], protocols::no_route);
}

TEST_F(RouteTable, ANetworkThatDoesOnlySomeAtomicsLeavesAllToTheCpu) {
  nic_script_.atomics = transport::atomic_set::none().with(atomic_op::add, 8);
  transport::scripted_device some(nic_script_);
  routes r = both(plain_, 256, some, 256);
  EXPECT_TRUE(r.cpu_does_atomics(1));
  EXPECT_EQ(r.of(0).atomics, r.of(0).route);
}

}  // namespace
}  // namespace heddle::engine
