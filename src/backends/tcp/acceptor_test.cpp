// SPDX-License-Identifier: BSD-3-Clause
#include "backends/tcp/acceptor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "backends/tcp/address.h"
#include "backends/tcp/socket.h"
#include "base/clock.h"
#include "support/resource_limits.h"

namespace heddle::transport::tcp {
namespace {

constexpr std::array<std::byte, 32> secret{std::byte{7}};

/// Rank 0 of two accepts, and rank 1 connects.
class Acceptor : public testing::Test {
 protected:
  Acceptor() { allow_silence_for(60'000); }
  /// Makes the acceptor, which waits as long for a peer that says nothing.
  void allow_silence_for(std::uint64_t ms) {
    acceptor_.reset();
    where_ = *parse_ip("127.0.0.1");
    std::vector<unique_fd> listeners;
    listeners.push_back(listen_at(where_));
    acceptor_.emplace(std::move(listeners), 0u, 2u, secret, algorithm_set{}, ms);
  }
  handshake connect() {
    hello mine;
    mine.from = 1;
    return handshake::initiate(connect_to({}, where_), mine, secret);
  }
  /// The acceptor is served until the other end has said all it has to say.
  void introduce(handshake& talk) {
    const std::uint64_t end = now_ms() + 10'000;
    while (talk.advance() == handshake::state::pending && now_ms() < end) acceptor_->serve(proven_);
  }
  /// The other end has said who it is, and its answer lies unread.
  void answer(handshake& talk) {
    EXPECT_EQ(talk.advance(), handshake::state::pending);
    pass(50);
    acceptor_->serve(proven_);
    pass(50);
  }
  bool is_called_within(std::uint64_t ms) {
    pollfd acceptor{acceptor_->fd(), POLLIN, 0};
    return poll(&acceptor, 1, static_cast<int>(ms)) == 1;
  }
  static void pass(std::uint64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

  rail_address where_ = *parse_ip("127.0.0.1");
  std::optional<acceptor> acceptor_;
  std::vector<accepted> proven_;
};

TEST_F(Acceptor, TakesWhoHasProvedItselfWhileNobodyServedItForLongerThanItsPatience) {
  handshake talk = connect();
  introduce(talk);
  ASSERT_TRUE(proven_.empty()) << "its proof lies unread";
  pass(acceptor::patience_ms + 50);
  acceptor_->serve(proven_);
  ASSERT_EQ(proven_.size(), 1u) << "it takes itself for connected";
  EXPECT_EQ(proven_[0].from, 1);
}

TEST_F(Acceptor, WaitsForTheProofOfARankThatHasNoCoreForLongerThanItsPatience) {
  handshake talk = connect();
  answer(talk);
  pass(acceptor::patience_ms + 50);
  acceptor_->serve(proven_);
  introduce(talk);
  pass(50);
  acceptor_->serve(proven_);
  EXPECT_EQ(proven_.size(), 1u);
}

TEST_F(Acceptor, LetsNobodyTakeItselfForConnectedWhomItHasGivenUpWaitingFor) {
  allow_silence_for(0);
  handshake talk = connect();
  answer(talk);
  pass(acceptor::patience_ms + 50);
  acceptor_->serve(proven_);
  EXPECT_EQ(talk.advance(), handshake::state::failed);
}

TEST_F(Acceptor, HasNothingToDoWhileMostStrangersAreSilentAndNobodyElseComes) {
  std::vector<unique_fd> silent;
  for (std::size_t i = 0; i < acceptor::most_strangers; ++i)
    silent.push_back(connect_to({}, where_));
  acceptor_->serve(proven_);
  pass(acceptor::grace_ms + 50);
  acceptor_->serve(proven_);
  EXPECT_FALSE(is_called_within(100));
}

TEST_F(Acceptor, LeavesDescriptorsToTheJobWhereStrangersWouldTakeAllThatThereAre) {
  const auto open_already = static_cast<rlim_t>(unique_fd(dup(STDERR_FILENO)).get());
  const test::limit few(RLIMIT_NOFILE, open_already + 64);
  allow_silence_for(60'000);
  std::vector<unique_fd> silent;
  for (int i = 0; i < 32; ++i) silent.push_back(connect_to({}, where_));
  acceptor_->serve(proven_);
  std::vector<unique_fd> own;
  for (int i = 0; i < 8; ++i) own.emplace_back(dup(STDERR_FILENO));
  EXPECT_TRUE(own.back());
}

TEST_F(Acceptor, TriesAgainBeforeItsPatienceEndsWhenNoDescriptorWasLeft) {
  const unique_fd waiting = connect_to({}, where_);
  {
    const test::no_descriptors here;
    acceptor_->serve(proven_);
  }
  EXPECT_TRUE(is_called_within(acceptor::patience_ms / 2));
}

TEST_F(Acceptor, HangsUpOnWhoProvesNothingForLongerThanItsPatience) {
  handshake silent = handshake::initiate(connect_to({}, where_), {}, secret);
  acceptor_->serve(proven_);
  pass(acceptor::patience_ms + 50);
  acceptor_->serve(proven_);
  EXPECT_EQ(silent.advance(), handshake::state::failed);
}

}  // namespace
}  // namespace heddle::transport::tcp
