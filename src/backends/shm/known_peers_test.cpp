// SPDX-License-Identifier: BSD-3-Clause
// known_peers_test.cpp - which peers are opened when, with segments of this process as peers.
#include "backends/shm/known_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include "backends/shm/own_segment.h"

namespace heddle::transport::shm {
namespace {

struct KnownPeers : testing::Test {
  KnownPeers() : peers(false, 2), there(1) {}
  known_peers peers;
  own_segment there;
};

TEST_F(KnownPeers, OpensWhatWasAddedWhenItIsNeededFirst) {
  EXPECT_EQ(peers.find(1), nullptr);
  peers.add(own_credentials(), there.where(), nullptr);
  const auto found = peers.find(1);
  ASSERT_NE(found, nullptr);
  EXPECT_FALSE(found->is_gone());
  EXPECT_EQ(peers.find(1), found);
}

TEST_F(KnownPeers, TakesWhatOurOwnProcessShowsForNoProof) {
  const credentials own = own_credentials();
  EXPECT_NE(peers.open_first_of(own, there.where()), nullptr);
  EXPECT_NE(peers.open_first_of(own, there.where()), nullptr);
}

TEST_F(KnownPeers, KeepsTheReasonWhyOneCannotBeReached) {
  peer_address wrong = there.where();
  wrong.secret[0] ^= std::byte{1};
  peers.add(own_credentials(), wrong, nullptr);
  const auto found = peers.find(1);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->is_gone());
  EXPECT_THAT(found->describe_end(), testing::HasSubstr("not the one"));
  EXPECT_THROW((void)peers.open_first_of(own_credentials(), wrong), error);
}

TEST_F(KnownPeers, ForgetsWhatItHadOpenedOfOneThatIsAddedAgain) {
  peers.add(own_credentials(), there.where(), nullptr);
  const auto before = peers.find(1);
  const own_segment later(1);
  peers.add(own_credentials(), later.where(),
            peers.open_first_of(own_credentials(), later.where()));
  EXPECT_NE(peers.find(1), before);
}

}  // namespace
}  // namespace heddle::transport::shm
