// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/sealed_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace heddle::bootstrap {
namespace {

using testing::HasSubstr;
using testing::Optional;
using bytes = std::vector<std::byte>;
using side = sealed_link::side;

bytes text(std::string_view t) {
  const auto b = std::as_bytes(std::span(t));
  return {b.begin(), b.end()};
}

/// A guest and a host with a wire between them that the test can look at and change.
class SealedLink : public testing::Test {
 protected:
  using tamper = std::function<void(bytes&)>;

  SealedLink() {
    secret_ = random_secret();
    connect(secret_);
  }
  void connect(const secret_bytes& of_guest) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    guest_wire_.reset(ends[1]);
    guest_.emplace(unique_fd(ends[0]), of_guest, side::guest, most);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    host_wire_.reset(ends[1]);
    host_.emplace(unique_fd(ends[0]), secret_, side::host, most);
  }
  /// Lets everything travel that is on its way, what the guest says through `change`.
  void run(const tamper& change = {}) {
    for (int i = 0; i < 4; ++i) {
      guest_->pump();
      carry(guest_wire_, host_wire_, change);
      host_->pump();
      carry(host_wire_, guest_wire_, {});
      guest_->pump();
    }
  }
  void carry(const unique_fd& from, const unique_fd& to, const tamper& change) {
    bytes data(65536);
    const ssize_t got = recv(from.get(), data.data(), data.size(), 0);
    if (got <= 0) return;
    data.resize(static_cast<std::size_t>(got));
    if (change) change(data);
    seen_.insert(seen_.end(), data.begin(), data.end());
    ASSERT_EQ(::send(to.get(), data.data(), data.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(data.size()));
  }

  static constexpr std::size_t most = 100;
  secret_bytes secret_{};
  unique_fd guest_wire_, host_wire_;
  std::optional<sealed_link> guest_, host_;
  bytes seen_;
};

TEST_F(SealedLink, CarriesMessagesBothWaysInOrder) {
  guest_->send(text("one"));
  guest_->send(text(""));
  run();
  EXPECT_THAT(host_->next(), Optional(text("one")));
  EXPECT_THAT(host_->next(), Optional(text("")));
  EXPECT_EQ(host_->next(), std::nullopt);
  host_->send(text("two"));
  run();
  EXPECT_THAT(guest_->next(), Optional(text("two")));
  EXPECT_EQ(guest_->problem() + host_->problem(), "");
}

TEST_F(SealedLink, AHostSaysNothingBeforeTheGuest) {
  host_->send(text("secret"));
  host_->pump();
  std::byte b;
  EXPECT_EQ(recv(host_wire_.get(), &b, 1, 0), -1);
}

TEST_F(SealedLink, NeitherSecretNorMessagesAreSeenOnTheWire) {
  const bytes words = text("a message that is long enough to be found");
  guest_->send(words);
  run();
  ASSERT_TRUE(host_->next());
  EXPECT_TRUE(std::ranges::search(seen_, words).empty());
  EXPECT_TRUE(std::ranges::search(seen_, secret_).empty());
}

TEST_F(SealedLink, AGuestWithAnotherSecretProvesNothing) {
  connect(random_secret());
  guest_->send(text("let me in"));
  run();
  EXPECT_EQ(host_->next(), std::nullopt);
  EXPECT_THAT(host_->problem(), HasSubstr("does not know the job's secret"));
}

TEST_F(SealedLink, WhatWasSaidToAnEarlierHostProvesNothingToThisOne) {
  guest_->send(text("let me in"));
  run();
  const bytes said = seen_;
  connect(secret_);
  ::send(host_wire_.get(), said.data(), said.size(), 0);
  host_->pump();
  EXPECT_EQ(host_->next(), std::nullopt);
  EXPECT_NE(host_->problem(), "");
}

TEST_F(SealedLink, ABitThatIsChangedAnywhereIsNoticed) {
  guest_->send(text("hello"));
  run();
  constexpr std::size_t magic = 14, all = magic + 32 + 24 + 4 + 5 + 17;
  for (std::size_t at = 0; at < all; ++at) {
    connect(secret_);
    std::size_t passed = 0;
    guest_->send(text("hello"));
    run([&](bytes& data) {
      if (at >= passed && at < passed + data.size()) data[at - passed] ^= std::byte{1};
      passed += data.size();
    });
    EXPECT_EQ(passed, at < magic ? magic + 32 : all);  // a host that is none hears no more
    EXPECT_EQ(host_->next(), std::nullopt) << at;
  }
}

TEST_F(SealedLink, AStrangerThatSpeaksIsFoundOut) {
  const bytes request = text("GET / HTTP/1.1\r\n\r\n");
  ::send(host_wire_.get(), request.data(), request.size(), 0);
  host_->pump();
  EXPECT_THAT(host_->problem(), HasSubstr("no process of this version of Heddle"));
  std::byte b;
  EXPECT_EQ(recv(host_wire_.get(), &b, 1, 0), -1);
}

TEST_F(SealedLink, AMessageLongerThanAllowedIsNotTaken) {
  guest_->send(bytes(most));
  run();
  EXPECT_TRUE(host_->next());
  guest_->send(bytes(most + 1));
  run();
  EXPECT_EQ(host_->next(), std::nullopt);
  EXPECT_NE(host_->problem(), "");
}

TEST_F(SealedLink, WhatWasSaidBeforeTheEndIsReadBeforeTheEndIsTold) {
  guest_->send(text("last words"));
  run();
  guest_.reset();
  guest_wire_.reset();
  host_wire_.reset();
  host_->pump();
  EXPECT_THAT(host_->problem(), HasSubstr("went away"));
  EXPECT_THAT(host_->next(), Optional(text("last words")));
}

}  // namespace
}  // namespace heddle::bootstrap
