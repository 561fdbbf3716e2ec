// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher_protocol.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <random>

#include "support/resource_limits.h"

namespace heddle::bootstrap::protocol {
namespace {

using bytes = std::vector<std::byte>;

bytes of(std::string_view text) {
  return encode_text(text);
}

std::pair<unique_fd, unique_fd> socket_pair(int type) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
  return {unique_fd(ends[0]), unique_fd(ends[1])};
}

TEST(LauncherProtocol, FramesComeOutAsTheyWentInHoweverTheyAreCut) {
  bytes stream;
  for (const auto& part : {encode(frame_kind::exchange, of("abc")), encode(frame_kind::barrier, {}),
                           encode(frame_kind::failed, of("why"))})
    stream.insert(stream.end(), part.begin(), part.end());
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    frame_parser parser(16);
    std::vector<frame> found;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      parser.push(std::span(stream).subspan(at, std::min(piece, stream.size() - at)));
      while (auto f = parser.next()) found.push_back(std::move(*f));
    }
    ASSERT_EQ(found.size(), 3u) << piece;
    EXPECT_EQ(found[0].kind, frame_kind::exchange);
    EXPECT_EQ(found[0].payload, of("abc"));
    EXPECT_EQ(found[1].kind, frame_kind::barrier);
    EXPECT_TRUE(found[1].payload.empty());
    EXPECT_EQ(found[2].payload, of("why"));
    EXPECT_FALSE(parser.broken());
  }
}

TEST(LauncherProtocol, AnEndingComesBackAsItWasAndOnlyWithAStatusThatFails) {
  const auto back = decode_ending(encode(ending{42, "no input"}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->status, 42);
  EXPECT_EQ(back->why, "no input");
  EXPECT_LE(encode(ending{1, std::string(10'000, 'x')}).size(), max_blob_bytes);
  for (const int status : {0, -1, 256}) EXPECT_FALSE(decode_ending(encode(ending{status, ""})));
  EXPECT_FALSE(decode_ending({}));
}

TEST(LauncherProtocol, ACutFrameIsNotGivenOut) {
  const bytes whole = encode(frame_kind::exchange, of("abcdef"));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    frame_parser parser(16);
    parser.push(std::span(whole).first(n));
    EXPECT_FALSE(parser.next()) << n;
    EXPECT_FALSE(parser.broken()) << n;
  }
}

TEST(LauncherProtocol, AFrameOverTheLimitBreaksTheStreamForGood) {
  frame_parser parser(3);
  parser.push(encode(frame_kind::exchange, of("abcd")));
  EXPECT_FALSE(parser.next());
  EXPECT_TRUE(parser.broken());
  parser.push(encode(frame_kind::barrier, {}));
  EXPECT_FALSE(parser.next());
}

TEST(LauncherProtocol, AnotherVersionAndUnknownKindsBreakTheStream) {
  const bytes good = encode(frame_kind::barrier, {});
  for (const auto& [offset, value] : {std::pair{4, 99}, {5, 0}, {5, 13}, {6, 1}}) {
    bytes bad = good;
    bad[static_cast<std::size_t>(offset)] = static_cast<std::byte>(value);
    frame_parser parser(16);
    parser.push(bad);
    EXPECT_FALSE(parser.next());
    EXPECT_TRUE(parser.broken()) << offset << "=" << value;
  }
}

TEST(LauncherProtocol, RandomBytesAreFramesOrBreakTheStream) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    frame_parser parser(64);
    bytes noise(random() % 200);
    for (auto& b : noise) b = static_cast<std::byte>(random() % 4 == 0 ? random() : 1);
    parser.push(noise);
    std::size_t total = 0;
    while (auto f = parser.next()) total += 8 + f->payload.size();
    EXPECT_LE(total, noise.size());
  }
}

TEST(LauncherProtocol, AWelcomeSurvivesTheTrip) {
  welcome w{3, 8, 4, {}};
  w.secret.fill(std::byte{0x5a});
  const auto back = decode_welcome(encode(w));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->rank, 3);
  EXPECT_EQ(back->size, 8);
  EXPECT_EQ(back->local_ranks, 4);
  EXPECT_EQ(back->secret, w.secret);
}

TEST(LauncherProtocol, AWelcomeToAnImpossibleJobIsRefused) {
  for (const welcome& w : {welcome{-1, 4, 4, {}}, welcome{4, 4, 4, {}}, welcome{0, 0, 1, {}},
                           welcome{0, 4, 5, {}}, welcome{0, 4, 0, {}}})
    EXPECT_FALSE(decode_welcome(encode(w)));
  const bytes good = encode(welcome{0, 1, 1, {}});
  EXPECT_FALSE(decode_welcome(std::span(good).first(40)));
}

TEST(LauncherProtocol, ALimitSurvivesTheTripAndNothingElseIsOne) {
  EXPECT_EQ(decode_limit(encode_limit(120'000)), 120'000u);
  EXPECT_FALSE(decode_limit({}));
  EXPECT_FALSE(decode_limit(of("seven b")));
}

TEST(LauncherProtocol, TextLosesItsControlCharacters) {
  EXPECT_EQ(decode_text(of("a\x1b[2Jb\n")), "a?[2Jb?");
}

TEST(LauncherProtocol, AJoinCarriesAWorkingConnection) {
  auto [rank, launcher] = socket_pair(SOCK_SEQPACKET);
  auto [mine, theirs] = socket_pair(SOCK_STREAM);
  ASSERT_EQ(send_join(rank.get(), theirs.get()), 0);
  theirs.reset();
  join_request got = receive_join(launcher.get());
  ASSERT_EQ(got.result, join_request::result_t::joined);
  EXPECT_EQ(got.version, version);
  EXPECT_NE(fcntl(got.connection.get(), F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_EQ(send(mine.get(), "x", 1, 0), 1);
  char c = 0;
  ASSERT_EQ(recv(got.connection.get(), &c, 1, 0), 1);
  EXPECT_EQ(c, 'x');
}

TEST(LauncherProtocol, AJoinForWhichThereIsNoDescriptorIsToldApart) {
  auto [rank, launcher] = socket_pair(SOCK_SEQPACKET);
  ASSERT_EQ(send_join(rank.get(), rank.get()), 0);
  const test::no_descriptors here;
  EXPECT_EQ(receive_join(launcher.get()).result, join_request::result_t::no_room);
}

TEST(LauncherProtocol, WhatIsNoJoinIsToldApart) {
  using result_t = join_request::result_t;
  auto [rank, launcher] = socket_pair(SOCK_SEQPACKET);
  EXPECT_EQ(receive_join(launcher.get()).result, result_t::nothing);
  ASSERT_EQ(send(rank.get(), "hello", 5, 0), 5);
  EXPECT_EQ(receive_join(launcher.get()).result, result_t::not_a_join);
  const bytes unattached = encode(frame_kind::join, {});
  ASSERT_EQ(send(rank.get(), unattached.data(), unattached.size(), 0), 8);
  EXPECT_EQ(receive_join(launcher.get()).result, result_t::not_a_join);
  rank.reset();
  EXPECT_EQ(receive_join(launcher.get()).result, result_t::ended);
}

}  // namespace
}  // namespace heddle::bootstrap::protocol
