// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/message.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace heddle::protocols {
namespace {

std::vector<std::byte> joined(const message& m) {
  const prefix p(m);
  std::vector<std::byte> all(p.bytes().begin(), p.bytes().end());
  all.insert(all.end(), m.payload.begin(), m.payload.end());
  return all;
}

TEST(Message, ComesBackAsItWasForEveryKind) {
  const std::array<std::byte, 5> header{std::byte{1}, std::byte{2}, std::byte{3}};
  const std::array<std::byte, 9> payload{std::byte{9}};
  for (int k = 1; k <= static_cast<int>(message_kind::rma_value); ++k) {
    message m;
    m.kind = static_cast<message_kind>(k);
    m.flag = 7;
    m.width = 8;
    m.handler = 1023;
    m.word = 0x0123456789abcdef;
    m.slot = 5;
    m.generation = 6;
    m.offset = 1ull << 40;
    m.bytes = 77;
    m.id = 88;
    m.place = {.address = 444, .key = 555, .by = 666};
    m.operand = 99;
    m.compare = 111;
    m.position = 222;
    m.value = 333;
    m.header = header;
    m.payload = payload;
    const auto bytes = joined(m);
    message back;
    ASSERT_TRUE(parse_message(bytes, back)) << k;
    EXPECT_EQ(joined(back), bytes) << k;
    EXPECT_EQ(back.word, m.word);
    const bool announces = m.kind == message_kind::tag_rts || m.kind == message_kind::call_rts;
    EXPECT_EQ(back.place.by, announces ? 666u : 0u);
    EXPECT_EQ(back.header.size(), header.size());
    EXPECT_EQ(back.payload.size(), payload.size());
  }
}

TEST(Message, EveryTruncationOfTheFixedPartIsRefused) {
  message m;
  m.kind = message_kind::rma_atomic;
  const auto bytes = joined(m);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(parse_message(std::span(bytes).first(n), m)) << n;
  }
}

TEST(Message, RefusesUnknownKindsLongHeadersAndLargeHandlers) {
  message m;
  auto bytes = joined({});
  bytes[0] = std::byte{0};
  EXPECT_FALSE(parse_message(bytes, m));
  bytes[0] = std::byte{200};
  EXPECT_FALSE(parse_message(bytes, m));
  bytes = joined({});
  bytes[4] = std::byte{65};
  EXPECT_FALSE(parse_message(bytes, m));
  bytes = joined({});
  bytes[3] = std::byte{0xff};
  EXPECT_FALSE(parse_message(bytes, m));
}

TEST(Message, GarbageNeverYieldsSpansOutsideTheInput) {
  std::mt19937 random(42);
  std::vector<std::byte> bytes(128);
  for (int round = 0; round < 100'000; ++round) {
    for (auto& b : bytes) b = static_cast<std::byte>(random());
    bytes[0] = static_cast<std::byte>(random() % 16);
    bytes[3] = bytes[6] = bytes[7] = std::byte{0};
    const auto input = std::span<const std::byte>(bytes).first(random() % bytes.size());
    message m;
    if (parse_message(input, m)) {
      EXPECT_EQ(m.payload.data() + m.payload.size(), input.data() + input.size());
      EXPECT_LE(m.header.size(), max_call_header);
    }
  }
}

}  // namespace
}  // namespace heddle::protocols
