// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

namespace heddle::linktest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> wires{"near", "far"};

TEST(Layer, IsAWireOrOneOfItsRails) {
  EXPECT_EQ(layer_named("far").rail, -1);
  EXPECT_EQ(layer_named("far.rail12").backend, "far");
  EXPECT_EQ(layer_named("far.rail12").rail, 12);
  EXPECT_EQ(name_of(layer_named("far.rail12")), "far.rail12");
  EXPECT_EQ(name_of(layer_named("far")), "far");
  for (const char* other : {"far.rail", "far.railx", "far.rail-1", "far.rail1-2", "far.rail64"})
    EXPECT_EQ(layer_named(other).backend, other);
}

TEST(Layer, IsMeantByAWordAndSeveralByARangeOfRails) {
  EXPECT_THAT(layers_in("near", wires), ElementsAre("near"));
  EXPECT_THAT(layers_in("auto", wires), ElementsAre("auto"));
  EXPECT_THAT(layers_in("far.rail1", wires), ElementsAre("far.rail1"));
  EXPECT_THAT(layers_in("far.rail1-3", wires), ElementsAre("far.rail1", "far.rail2", "far.rail3"));
  EXPECT_THAT(layers_in("far.rail1,near,far.rail0-1", wires),
              ElementsAre("far.rail1", "near", "far.rail0"));
}

TEST(Layer, IsNotAnyOtherWordAndWhatIsAcceptedIsTold) {
  for (const char* bad :
       {"", "close", "close.rail1", "auto.rail0", "far.rail2-1", "far.rail1-", "far.rail64",
        "far.rail0-64", "far.rail", "far.2", "near,", ",near", "near,,far"}) {
    try {
      (void)layers_in(bad, wires);
      ADD_FAILURE() << "accepted '" << bad << "'";
    } catch (const error& why) {
      EXPECT_THAT(why.what(), HasSubstr("give some of auto, near, far, or of one of these but auto "
                                        "single rails"));
    }
  }
}

TEST(Layer, IsThatOfARouteWhichIsADeviceOfItsWire) {
  for (const char* route : {"far", "far.rail1", "far.2"}) {
    EXPECT_TRUE(is_over(route, layer_named("far"))) << route;
    EXPECT_FALSE(is_over(route, layer_named("near"))) << route;
  }
  EXPECT_FALSE(is_over("farther", layer_named("far")));
  EXPECT_TRUE(is_over("far.2", layer_named("far.rail1")));
}

}  // namespace
}  // namespace heddle::linktest
