// SPDX-License-Identifier: BSD-3-Clause
// cipher_test.cpp - what one end seals the other opens, in order, and nothing else.
#include "backends/tcp/cipher.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::transport::tcp {
namespace {

using bytes = std::vector<std::byte>;

constexpr cipher::key example_key{std::byte{1}, std::byte{2}};
constexpr std::array<std::byte, 4> head{std::byte{9}};

struct Cipher : testing::TestWithParam<algorithm> {
  void SetUp() override {
    ASSERT_GE(sodium_init(), 0);
    if ((known_algorithms() & static_cast<algorithm_set>(GetParam())) == 0)
      GTEST_SKIP() << "this processor has no instructions for AES";
  }
  static bytes sealed(cipher& c, const bytes& plain) {
    bytes out(plain.size() + cipher::tag_bytes);
    c.seal(head, plain, out.data());
    return out;
  }
  static bool opens(cipher& c, const bytes& from, bytes& plain) {
    plain.assign(from.size() - cipher::tag_bytes, std::byte{0x55});
    return c.open(head, from, plain.data());
  }
};

TEST_P(Cipher, OpensWhatWasSealedInOrder) {
  cipher out(GetParam(), example_key), in(GetParam(), example_key);
  for (std::size_t n = 0; n < 100; ++n) {
    const bytes plain(n, std::byte{7});
    bytes back;
    ASSERT_TRUE(opens(in, sealed(out, plain), back));
    EXPECT_EQ(back, plain);
  }
}

TEST_P(Cipher, SealsInPlace) {
  cipher out(GetParam(), example_key), in(GetParam(), example_key);
  bytes both(32 + cipher::tag_bytes, std::byte{3}), back;
  out.seal(head, std::span(both).first(32), both.data());
  ASSERT_TRUE(opens(in, both, back));
  EXPECT_EQ(back, bytes(32, std::byte{3}));
}

TEST_P(Cipher, MakesSomethingElseOfTheSameBytesEachTime) {
  cipher out(GetParam(), example_key);
  const bytes plain(64);
  EXPECT_NE(sealed(out, plain), sealed(out, plain));
}

TEST_P(Cipher, RefusesEveryFlippedBitOfBytesAndTag) {
  cipher out(GetParam(), example_key);
  const bytes good = sealed(out, bytes(20, std::byte{1}));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    cipher in(GetParam(), example_key);
    bytes bad = good, back;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(opens(in, bad, back)) << bit;
    EXPECT_EQ(back, bytes(20)) << bit;
  }
}

TEST_P(Cipher, RefusesAnotherHeadKeyOrAlgorithmAndWhatIsRepeatedOrLeftOut) {
  cipher out(GetParam(), example_key);
  const bytes first = sealed(out, bytes(8)), second = sealed(out, bytes(8));
  bytes back(8);
  {
    cipher in(GetParam(), example_key);
    EXPECT_FALSE(in.open(std::span(head).first(3), first, back.data()));
  }
  {
    cipher in(GetParam(), cipher::key{std::byte{1}});
    EXPECT_FALSE(opens(in, first, back));
  }
  {
    const bool is_aes = GetParam() == algorithm::aes256_gcm;
    if (known_algorithms() == every_algorithm) {
      cipher in(is_aes ? algorithm::chacha20_poly1305 : algorithm::aes256_gcm, example_key);
      EXPECT_FALSE(opens(in, first, back));
    }
  }
  {
    cipher in(GetParam(), example_key);
    EXPECT_FALSE(opens(in, second, back));
  }
  cipher in(GetParam(), example_key);
  ASSERT_TRUE(opens(in, first, back));
  EXPECT_FALSE(opens(in, first, back));
}

TEST_P(Cipher, GoesOnWithAnotherKeyWhenOneHasBeenUsedOften) {
  cipher out(GetParam(), example_key), in(GetParam(), example_key);
  const bytes plain(1, std::byte{5});
  bytes back;
  for (std::uint64_t i = 0; i < cipher::key_uses + 2; ++i)
    ASSERT_TRUE(opens(in, sealed(out, plain), back)) << i;
  EXPECT_EQ(back, plain);
}

INSTANTIATE_TEST_SUITE_P(All, Cipher,
                         testing::Values(algorithm::chacha20_poly1305, algorithm::aes256_gcm),
                         [](const auto& of) {
                           return of.param == algorithm::aes256_gcm ? "aes" : "chacha";
                         });

TEST(Algorithms, TheBestThatBothHaveIsChosen) {
  constexpr algorithm_set chacha = 1, aes = 2, both = every_algorithm;
  EXPECT_EQ(best_of(both, both), algorithm::aes256_gcm);
  EXPECT_EQ(best_of(both, chacha), algorithm::chacha20_poly1305);
  EXPECT_EQ(best_of(aes, both), algorithm::aes256_gcm);
  EXPECT_EQ(best_of(aes, chacha), algorithm::none);
  EXPECT_EQ(best_of(both, 0), algorithm::none);
  EXPECT_EQ(best_of(0, 0), algorithm::none);
}

}  // namespace
}  // namespace heddle::transport::tcp
