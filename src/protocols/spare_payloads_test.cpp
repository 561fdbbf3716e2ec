// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/spare_payloads.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace heddle::protocols {
namespace {

constexpr std::size_t mib = 1 << 20;

TEST(SparePayloads, TheLastBlockThatCameBackIsTheNextOneOfItsSize) {
  spare_payloads spares;
  payload_memory first = spares.take(mib), second = spares.take(mib), small = spares.take(mib / 4);
  const std::byte *const one = first.get(), *const other = second.get();
  spares.give_back(std::move(first), mib);
  spares.give_back(std::move(second), mib);
  spares.give_back(std::move(small), mib / 4);
  first = spares.take(mib);
  second = spares.take(mib);
  EXPECT_EQ(first.get(), other);
  EXPECT_EQ(second.get(), one);
}

TEST(SparePayloads, ABlockHasRoomForTheLargestPayloadOfThoseThatShareIt) {
  spare_payloads spares;
  payload_memory block = spares.take(mib / 2 + 1);
  const std::byte* const was = block.get();
  spares.give_back(std::move(block), mib / 2 + 1);
  block = spares.take(mib);
  ASSERT_EQ(block.get(), was);
  std::memset(block.get(), 1, mib);  // the address sanitizer looks
}

TEST(SparePayloads, LargePayloadsBeginWithAPage) {
  spare_payloads spares;
  for (const std::size_t bytes : {spare_payloads::least_block, mib + 1, 40 * mib + 7})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(spares.take(bytes).get()) % 4096, 0u);
}

/// Bytes kept of so many blocks of `bytes` each, which were there at once.
std::size_t kept_of(std::size_t count, std::size_t bytes) {
  spare_payloads spares;
  std::vector<payload_memory> blocks(count);
  for (payload_memory& each : blocks) each = spares.take(bytes);
  for (payload_memory& each : blocks) spares.give_back(std::move(each), bytes);
  return spares.kept_bytes();
}

TEST(SparePayloads, NoMoreAreKeptThanTheBoundsSay) {
  EXPECT_EQ(kept_of(3, 4 * mib), 12 * mib);
  EXPECT_EQ(kept_of(6, 4 * mib), spare_payloads::most_bytes);
  EXPECT_EQ(kept_of(20, spare_payloads::least_block),
            spare_payloads::most * spare_payloads::least_block);
}

TEST(SparePayloads, SmallAndHugeOnesAreNotKept) {
  EXPECT_EQ(kept_of(1, spare_payloads::least_block - 1), 0u);
  EXPECT_EQ(kept_of(1, 40 * mib), 0u);
}

TEST(SparePayloads, ThereIsNoneForWhatNoMemoryCanHold) {
  spare_payloads spares;
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 5000, SIZE_MAX / 2 + 1})
    EXPECT_EQ(spares.take(bytes), nullptr);
}

TEST(SparePayloads, WhatAHandlerKeptDoesNotComeBack) {
  spare_payloads spares;
  spares.give_back(nullptr, mib);
  EXPECT_EQ(spares.kept_bytes(), 0u);
}

TEST(SparePayloads, TheOldestMakeRoomForOthers) {
  spare_payloads spares;
  std::vector<payload_memory> old;
  for (int i = 0; i < 4; ++i) old.push_back(spares.take(4 * mib));
  payload_memory recent = spares.take(mib);
  const std::byte* const was = recent.get();
  for (payload_memory& each : old) spares.give_back(std::move(each), 4 * mib);
  spares.give_back(std::move(recent), mib);
  EXPECT_EQ(spares.kept_bytes(), 13 * mib);
  EXPECT_EQ(spares.take(mib).get(), was);
}

}  // namespace
}  // namespace heddle::protocols
