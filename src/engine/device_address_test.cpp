// SPDX-License-Identifier: BSD-3-Clause
// device_address_test.cpp - what a rank says of its devices is read as it was written, and anything
// else is read as nothing.
#include "engine/device_address.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace heddle::engine {
namespace {

using list = std::vector<std::byte>;

constexpr std::array address{std::byte{1}, std::byte{2}, std::byte{3}};

list two_devices() {
  list made;
  append(made, {"shm", 256, address});
  append(made, {"tcp", 0x1234, {}});
  return made;
}

TEST(DeviceAddress, IsFoundByItsName) {
  const list both = two_devices();
  const device_address shm = find(both, "shm");
  EXPECT_EQ(shm.lanes, 256);
  EXPECT_TRUE(std::ranges::equal(shm.bytes, address));
  const device_address tcp = find(both, "tcp");
  EXPECT_EQ(tcp.lanes, 0x1234);
  EXPECT_TRUE(tcp.bytes.empty());
}

TEST(DeviceAddress, HasNoLanesWhereNoDeviceHasTheName) {
  EXPECT_EQ(find(two_devices(), "verbs").lanes, 0);
  EXPECT_EQ(find({}, "shm").lanes, 0);
}

TEST(DeviceAddress, IsToldFromSeveral) {
  list one;
  EXPECT_FALSE(has_several(one));
  append(one, {"shm", 1, {}});
  EXPECT_FALSE(has_several(one));
  EXPECT_TRUE(has_several(two_devices()));
}

TEST(DeviceAddress, IsNotReadFromAListThatEndsInsideIt) {
  list one;
  append(one, {"shm", 1, address});
  for (std::size_t bytes = 0; bytes < one.size(); ++bytes) {
    std::span<const std::byte> cut(one.data(), bytes);
    EXPECT_FALSE(take(cut)) << bytes;
    EXPECT_EQ(cut.size(), bytes) << "nothing is taken off what makes no sense";
  }
}

TEST(DeviceAddress, IsReadWithinTheListWhateverItsBytes) {
  std::mt19937 dice(7);
  for (int round = 0; round < 20'000; ++round) {
    list random(dice() % 64);
    for (std::byte& b : random) b = static_cast<std::byte>(dice() % 8);
    std::span<const std::byte> rest(random);
    while (const auto a = take(rest)) {
      ASSERT_LE(a->bytes.data() + a->bytes.size(), random.data() + random.size());
      ASSERT_EQ(rest.data() + rest.size(), random.data() + random.size());
    }
  }
}

}  // namespace
}  // namespace heddle::engine
