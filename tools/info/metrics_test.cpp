// SPDX-License-Identifier: BSD-3-Clause
#include "info/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tools {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

json world(int rank) {
  const json peer{{"rank", 1 - rank}, {"lane", 0}, {"counters", {{"sent_bytes", 40 + rank}}}};
  const json lane{{"number", 0}, {"counters", {{"eager", 7 + rank}}}, {"peers", {peer}}};
  return {{"rank", rank}, {"lanes", {lane}}};
}

TEST(Metrics, OfAllWorldsStandTogether) {
  const std::string text = metrics_of({world(0), world(1)});
  EXPECT_THAT(text, HasSubstr("heddle_lane_eager_total{rank=\"0\",lane=\"0\"} 7\n"
                              "heddle_lane_eager_total{rank=\"1\",lane=\"0\"} 8\n"));
  EXPECT_THAT(text, HasSubstr("heddle_peer_sent_bytes_total{rank=\"1\",lane=\"0\",peer=\"0\","
                              "peer_lane=\"0\"} 41\n"));
}

TEST(Metrics, AreWithoutAWorldThatDoesNotAnswer) {
  const std::string text = metrics_of({json{{"rank", 0}, {"problem", "it is stopped"}}, world(1)});
  EXPECT_THAT(text, HasSubstr("rank=\"1\""));
  EXPECT_THAT(text, Not(HasSubstr("rank=\"0\",lane")));
}

TEST(Metrics, OfALaneWhosePeersCannotBeReadAreItsOwn) {
  json held = world(0);
  held["lanes"][0].erase("peers");
  const std::string text = metrics_of(json::array({held}));
  EXPECT_THAT(text, HasSubstr("heddle_lane_eager_total{rank=\"0\",lane=\"0\"} 7\n"));
  EXPECT_THAT(text, Not(HasSubstr("heddle_peer")));
}

}  // namespace
}  // namespace heddle::tools
