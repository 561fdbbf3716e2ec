// SPDX-License-Identifier: BSD-3-Clause
// pieces_test.cpp - a large message that this process copies leaves its lane to others meanwhile.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stress/ways.h"
#include "support/pattern.h"

namespace heddle::test {
namespace {

constexpr tag large_tag = 1, small_tag = 2;
constexpr std::uint64_t seed = 7;
constexpr int tries = 100;
const std::size_t large_bytes = sanitized ? 16 << 20 : 128 << 20;

enum class source { mapped, own };

/// Sends the large message, and answers each small one until it is told that the large has come.
void send_and_answer(lane& l, std::span<const std::byte> data) {
  flag sent;
  ASSERT_TRUE(accepted(l.try_send(1, large_tag, data, sent)));
  for (std::uint8_t over = 0; over == 0;) {
    ASSERT_EQ(l.recv(1, small_tag, std::as_writable_bytes(std::span(&over, 1))).code, status::done);
    ASSERT_EQ(l.send(1, small_tag, std::as_bytes(std::span(&over, 1))), status::done);
  }
  EXPECT_EQ(l.wait(sent), status::done);
}

/// Receives the large message; returns how many small ones went to and fro meanwhile.
int receive_and_ask(lane& l) {
  std::vector<std::byte> into(large_bytes);
  flag received;
  EXPECT_EQ(l.try_recv(0, large_tag, into, received), status::posted);
  int rounds = 0;
  for (std::uint8_t over = 0; over == 0; ++rounds) {
    over = received.ready() ? 1 : 0;
    EXPECT_EQ(l.send(0, small_tag, std::as_bytes(std::span(&over, 1))), status::done);
    EXPECT_EQ(l.recv(0, small_tag, std::as_writable_bytes(std::span(&over, 1))).code, status::done);
  }
  EXPECT_EQ(received.result().code, status::done);
  EXPECT_TRUE(is_pattern(into, seed));
  return rounds;
}

class Pieces : public testing::TestWithParam<source> {};
INSTANTIATE_TEST_SUITE_P(Sources, Pieces, testing::Values(source::mapped, source::own),
                         [](const auto& p) { return p.param == source::own ? "own" : "mapped"; });

/// Rank 1 decides whether that was enough.
bool agree(lane& l, bool enough) {
  if (l.self() == 1) {
    EXPECT_EQ(l.send(0, small_tag, std::as_bytes(std::span(&enough, 1))), status::done);
  } else {
    EXPECT_EQ(l.recv(1, small_tag, std::as_writable_bytes(std::span(&enough, 1))).code,
              status::done);
  }
  return enough;
}

// Copied whole, the large message would be there before the second small one was sent, however
// often it is tried. In pieces it may be so as well when the rank that answers gets no core.
TEST_P(Pieces, SmallMessagesGoToAndFroWhileALargeOneIsCopied) {
  settings config = settings_for("shm");
  config.progress = "inline";  // nobody else copies while a rank waits for a core
  run_ranks(2, config, [](world& w) {
    lane l(w);
    if (w.rank() == 1) {
      int most = 0;
      for (int i = 0; i < tries && !agree(l, most >= 4); ++i)
        most = std::max(most, receive_and_ask(l));
      EXPECT_GE(most, 4);
      return;
    }
    std::vector<std::byte> own = pattern(large_bytes, seed);
    region shared;
    std::span<std::byte> data(own);
    if (GetParam() == source::mapped) {
      shared = w.allocate(large_bytes);
      std::ranges::copy(own, shared.memory().begin());
      data = shared.memory();
    }
    for (int i = 0; i < tries && !agree(l, false); ++i) send_and_answer(l, data);
  });
}

}  // namespace
}  // namespace heddle::test
