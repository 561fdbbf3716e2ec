// SPDX-License-Identifier: BSD-3-Clause
// reassembler_test.cpp - frames come out of the stream whole, however it is cut.
#include "backends/tcp/reassembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace heddle::transport::tcp {
namespace {

using bytes = std::vector<std::byte>;

struct sent_frame {
  frame_kind kind;
  bytes payload;
};

void append(bytes& stream, const sent_frame& f) {
  std::array<std::byte, max_header> head;
  const auto n = static_cast<std::uint32_t>(f.payload.size());
  const std::size_t size = f.kind == frame_kind::message ? write_message(head.data(), n)
                           : f.kind == frame_kind::put
                               ? write_put(head.data(), flag_last, 1, 1, 0, n)
                               : write_reply(head.data(), status::done, 1, 2);
  stream.insert(stream.end(), head.begin(), head.begin() + static_cast<std::ptrdiff_t>(size));
  stream.insert(stream.end(), f.payload.begin(), f.payload.end());
}

/// Feeds `stream` in pieces and gathers what comes out; stops at a bad frame.
std::vector<sent_frame> taken_apart(std::span<const std::byte> stream, std::mt19937& random,
                                    bool& bad) {
  reassembler in;
  std::vector<sent_frame> out;
  std::uint32_t missing = 0;
  while (!stream.empty()) {
    if (missing != 0) {  // past the buffer
      EXPECT_TRUE(in.empty());
      const std::size_t n = std::min<std::size_t>(missing, stream.size());
      out.back().payload.insert(out.back().payload.end(), stream.begin(),
                                stream.begin() + static_cast<std::ptrdiff_t>(n));
      missing -= static_cast<std::uint32_t>(n);
      stream = stream.subspan(n);
      continue;
    }
    const auto room = in.room();
    if (room.empty()) {
      ADD_FAILURE() << "no room";
      return out;
    }
    const std::size_t n = std::min({room.size(), stream.size(), std::size_t{1} + random() % 9000});
    std::copy_n(stream.begin(), n, room.begin());
    in.filled(n);
    stream = stream.subspan(n);
    while (missing == 0) {
      const auto i = in.next();
      if (i.is == verdict::bad) bad = true;
      if (i.is != verdict::frame) break;
      out.push_back({i.head.kind, bytes(i.payload.begin(), i.payload.end())});
      missing = i.missing;
      EXPECT_EQ(i.payload.size() + missing, i.head.payload);
    }
    if (bad) return out;
  }
  return out;
}

TEST(Reassembler, GivesBackEveryFrameHoweverTheStreamIsCut) {
  std::mt19937 random(5);
  for (int round = 0; round < 30; ++round) {
    std::vector<sent_frame> sent;
    bytes stream;
    for (int i = 0; i < 40; ++i) {
      sent_frame f{frame_kind::reply, {}};
      if (random() % 3 != 0) {
        f.kind = random() % 2 != 0 ? frame_kind::message : frame_kind::put;
        const std::size_t most = random() % 4 == 0 ? max_message : 50;
        f.payload.resize(random() % (most + 1));
        std::ranges::generate(f.payload, [&] { return static_cast<std::byte>(random()); });
      }
      append(stream, f);
      sent.push_back(f);
    }
    bool bad = false;
    const auto got = taken_apart(stream, random, bad);
    EXPECT_FALSE(bad);
    ASSERT_EQ(got.size(), sent.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].kind, sent[i].kind);
      EXPECT_EQ(got[i].payload, sent[i].payload);
    }
  }
}

TEST(Reassembler, EndsAnyGarbageWithAVerdict) {
  std::mt19937 random(6);
  int bad_streams = 0;
  for (int round = 0; round < 300; ++round) {
    bytes stream(20'000);
    std::ranges::generate(stream, [&] { return static_cast<std::byte>(random()); });
    stream[0] = static_cast<std::byte>(random() % 10);
    bool bad = false;
    (void)taken_apart(stream, random, bad);
    bad_streams += bad ? 1 : 0;
  }
  EXPECT_EQ(bad_streams, 300);
}

TEST(Reassembler, HandsOutALargePutBeforeAllOfItIsThere) {
  reassembler in;
  const auto room = in.room();
  std::size_t n = write_put(room.data(), flag_last, 1, 1, 0, 100'000);
  n += 10;
  in.filled(n);
  const auto i = in.next();
  ASSERT_EQ(i.is, verdict::frame);
  EXPECT_EQ(i.payload.size(), 10u);
  EXPECT_EQ(i.missing, 99'990u);
  EXPECT_TRUE(in.empty());
}

TEST(Reassembler, KeepsASmallPutTogether) {
  reassembler in;
  const auto room = in.room();
  const std::size_t head = write_put(room.data(), flag_last, 1, 1, 0, 100);
  in.filled(head + 99);
  EXPECT_EQ(in.next().is, verdict::more);
  in.filled(1);
  EXPECT_EQ(in.next().payload.size(), 100u);
}

}  // namespace
}  // namespace heddle::transport::tcp
