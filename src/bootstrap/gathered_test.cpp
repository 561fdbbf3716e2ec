// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/gathered.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "bootstrap/launcher_protocol.h"
#include "bootstrap/table_writer.h"
#include "support/blobs.h"
#include "support/refusal.h"

namespace heddle::bootstrap {
namespace {

using protocol::encode_blobs;
using protocol::max_blob_bytes;

blob of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Gathered, BlobsOfAllSizesSurviveTheTrip) {
  const std::vector<blob> blobs{of(""), of("x"), blob(max_blob_bytes, std::byte{7}), of("end")};
  const gathered sent(blobs);
  const auto back = gathered::decode({sent.encoded().begin(), sent.encoded().end()}, blobs.size());
  ASSERT_TRUE(back);
  EXPECT_EQ(test::blobs_of(*back), blobs);
  EXPECT_LE(sent.encoded().size(), protocol::max_everything(blobs.size()));
}

TEST(Gathered, BlobsCutShortTooManyOrTooLongAreRefused) {
  const std::vector<blob> blobs{of("ab"), of("cde")};
  const blob good = encode_blobs(blobs);
  for (auto n = good.begin(); n != good.end(); ++n)
    EXPECT_FALSE(gathered::decode({good.begin(), n}, 2)) << n - good.begin();
  EXPECT_FALSE(gathered::decode(good, 1));
  EXPECT_FALSE(gathered::decode(good, 3));
  const std::vector<blob> too_long{blob(max_blob_bytes + 1)};
  EXPECT_FALSE(gathered::decode(encode_blobs(too_long), 1));
  blob huge = good;
  std::memset(huge.data(), 0xff, 4);
  EXPECT_FALSE(gathered::decode(huge, 2));
}

TEST(Gathered, ATableWrittenInAnyOrderIsReadByRankFromItsFileAndByCopies) {
  table_writer made(3);
  made.add(2, of("two"));
  made.add(0, of(""));
  EXPECT_TRUE(made.has(2));
  EXPECT_FALSE(made.has(1));
  made.add(1, blob(200'000 / 50, std::byte{1}));
  auto table = gathered::map(made.finish().get(), 3);
  ASSERT_TRUE(table);
  const gathered copy = *table;
  table.reset();
  EXPECT_THAT(test::blobs_of(copy),
              testing::ElementsAre(of(""), blob(4000, std::byte{1}), of("two")));
}

TEST(Gathered, ATableWithoutSomebodysGiftIsNotFinished) {
  table_writer made(3);
  made.add(0, {});
  EXPECT_THAT(test::refusal([&] { (void)made.finish(); }), testing::HasSubstr("rank 1"));
}

TEST(Gathered, WhatIsNoFileOrNoTableIsNotMapped) {
  EXPECT_FALSE(gathered::map(-1, 1));
  EXPECT_FALSE(gathered::map(0, 1));
  table_file other;
  other.append(of("this is no table of anybody's"));
  EXPECT_FALSE(gathered::map(other.seal().get(), 2));
}

}  // namespace
}  // namespace heddle::bootstrap
