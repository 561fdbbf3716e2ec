// SPDX-License-Identifier: BSD-3-Clause
// frame_test.cpp - every frame survives the trip, and nothing else passes.
#include "backends/tcp/frame.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace heddle::transport::tcp {
namespace {

using bytes = std::vector<std::byte>;

template <class Write>
bytes made(Write write) {
  bytes out(max_header);
  out.resize(write(out.data()));
  return out;
}

std::vector<bytes> one_of_each() {
  frame atomic;
  atomic.atomic = atomic_op::swap;
  atomic.width = 4;
  atomic.id = 9;
  atomic.slot = 1;
  atomic.generation = 2;
  atomic.offset = 3;
  atomic.operand = 4;
  atomic.compare = 5;
  return {made([](auto* at) { return write_message(at, max_message); }),
          made([](auto* at) { return write_put(at, flag_part | flag_last, 1, 2, 3, 4); }),
          made([](auto* at) { return write_put_ack(at, status::denied, 77); }),
          made([](auto* at) { return write_get(at, 1, 2, 3, 4, 5); }),
          made([](auto* at) { return write_get_data(at, flag_whole, 1, 2); }),
          made([&](auto* at) { return write_atomic(at, atomic); }),
          made([](auto* at) { return write_reply(at, status::withdrawn, 1, 2); }),
          made([](auto* at) { return write_bye(at); }),
          made([](auto* at) { return write_chosen(at); })};
}

TEST(Frame, SurvivesTheTripOneOfEachKind) {
  const auto all = one_of_each();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const parsed p = parse_frame(all[i]);
    ASSERT_EQ(p.is, verdict::frame) << i;
    EXPECT_EQ(static_cast<std::size_t>(p.head.kind), i + 1);
    EXPECT_EQ(header_bytes(static_cast<std::uint8_t>(p.head.kind)), all[i].size());
  }
  const frame put = parse_frame(all[1]).head;
  EXPECT_EQ(put.flags, flag_part | flag_last);
  EXPECT_EQ(put.slot, 1u);
  EXPECT_EQ(put.generation, 2u);
  EXPECT_EQ(put.offset, 3u);
  EXPECT_EQ(put.payload, 4u);
  const frame ack = parse_frame(all[2]).head;
  EXPECT_EQ(ack.code, status::denied);
  EXPECT_EQ(ack.count, 77u);
  const frame get = parse_frame(all[3]).head;
  EXPECT_EQ(get.id, 1u);
  EXPECT_EQ(get.bytes, 5u);
  const frame atomic = parse_frame(all[5]).head;
  EXPECT_EQ(atomic.atomic, atomic_op::swap);
  EXPECT_EQ(atomic.width, 4);
  EXPECT_EQ(atomic.operand, 4u);
  EXPECT_EQ(atomic.compare, 5u);
}

TEST(Frame, WantsMoreOfEveryPrefix) {
  for (const bytes& whole : one_of_each()) {
    for (std::size_t n = 0; n < whole.size(); ++n)
      EXPECT_EQ(parse_frame(std::span(whole).first(n)).is, verdict::more);
  }
}

TEST(Frame, RefusesUnknownKindsFlagsCodesAndLengths) {
  const auto changed = [](std::size_t which, std::size_t at, unsigned value) {
    bytes b = one_of_each()[which];
    b[at] = static_cast<std::byte>(value);
    return parse_frame(b).is;
  };
  EXPECT_EQ(changed(0, 0, 0), verdict::bad);
  EXPECT_EQ(changed(0, 0, 9), verdict::bad);
  EXPECT_EQ(changed(0, 0, 255), verdict::bad);
  EXPECT_EQ(changed(0, 1, 1), verdict::bad);     // message with flags
  EXPECT_EQ(changed(0, 4, 1), verdict::bad);     // message of 64 KiB and one byte
  EXPECT_EQ(changed(0, 7, 0x80), verdict::bad);  // of 2 GiB
  EXPECT_EQ(changed(1, 1, 0), verdict::bad);     // put that is no part and has no end
  EXPECT_EQ(changed(1, 1, 4), verdict::bad);
  EXPECT_EQ(changed(1, 7, 0x7f), verdict::bad);  // put of 2 GiB
  EXPECT_EQ(changed(2, 4, 0), verdict::bad);     // acknowledges nothing
  EXPECT_EQ(changed(2, 1, static_cast<unsigned>(status::posted)), verdict::bad);
  EXPECT_EQ(changed(2, 1, static_cast<unsigned>(status::peer_lost)), verdict::bad);
  EXPECT_EQ(changed(2, 1, 200), verdict::bad);
  EXPECT_EQ(changed(4, 1, 1), verdict::bad);
  EXPECT_EQ(changed(4, 13, 1), verdict::bad);  // padding
  EXPECT_EQ(changed(5, 1, static_cast<unsigned>(last_atomic_op)), verdict::frame);
  EXPECT_EQ(changed(5, 1, static_cast<unsigned>(last_atomic_op) + 1), verdict::bad);
  EXPECT_EQ(changed(5, 2, 3), verdict::bad);  // three bytes wide
  EXPECT_EQ(changed(6, 1, 200), verdict::bad);
  EXPECT_EQ(changed(7, 4, 1), verdict::bad);
  for (std::size_t which = 0; which < 8; ++which) EXPECT_EQ(changed(which, 3, 1), verdict::bad);
}

TEST(Frame, AnswersEveryGarbage) {
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::array<std::byte, max_header> b;
    for (auto& x : b) x = static_cast<std::byte>(random());
    if (i % 2 == 0) b[0] = static_cast<std::byte>(1 + random() % 8);
    const parsed p = parse_frame(std::span(b).first(random() % (max_header + 1)));
    if (p.is != verdict::frame) continue;
    EXPECT_LE(p.head.payload, max_fragment);
    EXPECT_LE(p.head.code, status::closed);
  }
}

}  // namespace
}  // namespace heddle::transport::tcp
