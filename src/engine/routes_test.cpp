// routes_test.cpp - which backend carries what is for a peer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include "support/ranks.h"

namespace heddle::test {
namespace {

void expect_route(const std::string& backends, const std::string& route) {
  run_ranks(2, settings_for(backends),
            [&](world& w) { EXPECT_EQ(w.route(1 - w.rank()), route) << backends; });
}

TEST(Routes, TheFirstNamedBackendThatReachesAPeerCarriesWhatIsForIt) {
  expect_route("shm,tcp", "shm");
  expect_route("tcp,shm", "tcp");
}

TEST(Routes, ABackendThatIsNotThereIsPassedOverAndSaysWhy) {
  run_ranks(2, settings_for("absent,tcp"), [](world& w) {
    EXPECT_EQ(w.route(1 - w.rank()), "tcp");
    EXPECT_THAT(w.describe(), testing::ContainsRegex("absent +not usable: .*backend_absent.so"));
  });
}

}  // namespace
}  // namespace heddle::test
