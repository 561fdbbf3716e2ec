// SPDX-License-Identifier: BSD-3-Clause
// fabric_test.cpp - routes of simulated networks are routes, and numbers of cables fit.
#include "linktest/simulate/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <algorithm>

#include "exit_status.h"
#include "linktest/simulate/simulated_network.h"

namespace heddle::linktest {
namespace {

using testing::HasSubstr;

std::vector<std::uint32_t> route_of(const fabric& f, int from, int to) {
  std::vector<std::uint32_t> out;
  f.route(from, to, out);
  return out;
}

TEST(Fabric, GivesEveryPairTheSameCablesBothWaysAllOfThemThere) {
  for (const shape form : {shape::fattree, shape::dragonfly, shape::torus}) {
    const fabric f(form, 0, 60);
    for (int a = 0; a < 60; ++a) {
      for (int b = 0; b < 60; ++b) {
        auto there = route_of(f, a, b), back = route_of(f, b, a);
        for (const std::uint32_t c : there) ASSERT_LT(c, f.cables());
        if (form == shape::torus) {
          ASSERT_EQ(there.size(), back.size());
          continue;  // x, y, z there and x, y, z back are two ways around a corner
        }
        std::sort(there.begin(), there.end());
        std::sort(back.begin(), back.end());
        ASSERT_EQ(there, back);
      }
    }
  }
}

TEST(Fabric, CrossesNoCableInsideASwitchAndMoreFurtherAway) {
  const fabric f(shape::fattree, 8, 128);
  EXPECT_EQ(route_of(f, 0, 3).size(), 0u);
  EXPECT_EQ(route_of(f, 0, 4).size(), 2u);
  EXPECT_EQ(route_of(f, 0, 127).size(), 4u);
  EXPECT_LT(f.distance(0, 3), f.distance(0, 4));
  EXPECT_LT(f.distance(0, 4), f.distance(0, 127));
}

TEST(Fabric, GivesEveryCableANameOfItsOwn) {
  for (const shape form : {shape::fattree, shape::torus, shape::dragonfly}) {
    const fabric f(form, 4, 8);
    std::vector<std::string> names;
    for (std::uint32_t c = 0; c < f.cables(); ++c) names.push_back(f.cable_name(c));
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  }
}

TEST(Fabric, RefusesWhatItDoesNotKnowOrHasNoRoomFor) {
  for (const char* text :
       {"ring", "torus:k=0", "torus:3", "fattree:k=3", "torus:k=2", "", "torus:k="})
    EXPECT_THROW((void)fabric::parse(text, 20), error) << text;
  EXPECT_THAT(fabric::parse("torus:k=3", 20).describe(), HasSubstr("torus with k = 3"));
}

TEST(SimulatedFaults, AreReadAndRefusedWithTheItemAndWhatIsAccepted) {
  const auto all = parse_simulated_faults("node=5:2.5,rail=3/1:2,link=1-4:3,link=cable12:3");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].factor, 2.5);
  EXPECT_EQ(all[1].rail, 1);
  EXPECT_EQ(all[2].peer, 4);
  EXPECT_EQ(all[3].cable, 12);
  for (const char* bad : {"node=5", "node=5:1", "link=3:2", "rail=3-1:2", "disk=1:2",
                          "node=5:2,"
                          ",x",
                          "node=cable3:2", "node=99999999999:2"})
    EXPECT_THROW((void)parse_simulated_faults(bad), error) << bad;
}

TEST(SimulatedNetwork, RefusesFaultsOfHostsThatAreNotThere) {
  const auto make = [](const char* faults) {
    return simulated_network({shape::torus, 0, 8}, {}, parse_simulated_faults(faults),
                             [](std::int64_t, std::int64_t) { return -1; });
  };
  EXPECT_THROW((void)make("node=8:2"), tools::usage_error);
  EXPECT_THROW((void)make("rail=1/1:2"), tools::usage_error);
  EXPECT_NO_THROW((void)make("node=7:2"));
}

}  // namespace
}  // namespace heddle::linktest
