// SPDX-License-Identifier: BSD-3-Clause
// hello_test.cpp - hellos survive the trip, and proofs prove only what they should.
#include "backends/tcp/hello.h"

#include <gtest/gtest.h>

namespace heddle::transport::tcp {
namespace {

constexpr std::array<std::byte, 32> secret{std::byte{1}}, other_secret{std::byte{2}};

hello example() {
  return {.to_lane = 255, .from = 3, .to = 1, .from_lane = 254, .random = fresh_nonce()};
}

TEST(Hello, SurvivesTheTrip) {
  const hello h = example();
  EXPECT_EQ(parse_hello(encode(h)), h);
}

TEST(Hello, RefusesEveryOtherLengthVersionAndRange) {
  const hello_image good = encode(example());
  EXPECT_FALSE(parse_hello(std::span(good).first(hello_bytes - 1)));
  EXPECT_FALSE(parse_hello({}));
  const auto changed = [&](std::size_t at) {
    hello_image bad = good;
    bad[at] ^= std::byte{0x08};
    return parse_hello(bad);
  };
  for (const std::size_t at : {0u, 1u, 2u, 3u, 4u, 5u, 17u, 18u, 19u, 20u, 31u})
    EXPECT_FALSE(changed(at)) << at;
  EXPECT_FALSE(parse_hello(encode({.from = 3, .to = 1, .from_lane = 256})));
  EXPECT_FALSE(parse_hello(encode({.to_lane = 256, .from = 3, .to = 1})));
  EXPECT_TRUE(changed(40));  // another nonce is another hello
}

TEST(Hello, NoncesDiffer) {
  EXPECT_NE(fresh_nonce(), fresh_nonce());
}

TEST(Proof, DependsOnSecretRoleAndBothHellos) {
  const hello_image a = encode(example()), b = encode(example());
  const proof right = prove(secret, role::initiator, a, b);
  EXPECT_TRUE(same_proof(right, prove(secret, role::initiator, a, b)));
  EXPECT_FALSE(same_proof(right, prove(other_secret, role::initiator, a, b)));
  EXPECT_FALSE(same_proof(right, prove(secret, role::acceptor, a, b)));
  EXPECT_FALSE(same_proof(right, prove(secret, role::initiator, b, a)));
  EXPECT_FALSE(same_proof(right, prove(secret, role::initiator, a, a)));
  hello_image changed = b;
  changed[63] ^= std::byte{1};
  EXPECT_FALSE(same_proof(right, prove(secret, role::initiator, a, changed)));
}

}  // namespace
}  // namespace heddle::transport::tcp
