// SPDX-License-Identifier: BSD-3-Clause
#include "engine/descriptor_list.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <vector>

#include "base/fd.h"

namespace heddle::engine {
namespace {

constexpr std::uint64_t hour_ns = 3'600'000'000'000;

// A lane in mode inline with eight backends has eighteen.
TEST(DescriptorList, EachOfFortyDescriptorsEndsASleep) {
  std::vector<unique_fd> bells;
  descriptor_list list;
  for (int i = 0; i < 40; ++i) {
    bells.emplace_back(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    list.add(bells.back().get());
  }
  EXPECT_FALSE(list.any_readable());
  for (const unique_fd& bell : bells) {
    ASSERT_EQ(eventfd_write(bell.get(), 1), 0);
    EXPECT_TRUE(list.sleep(hour_ns));
    eventfd_t rung = 0;
    ASSERT_EQ(eventfd_read(bell.get(), &rung), 0);
  }
}

TEST(DescriptorList, WithoutDescriptorsASleepLastsAsLongAsItMay) {
  descriptor_list list;
  list.add(-1);
  EXPECT_EQ(list.size(), 0u);
  EXPECT_FALSE(list.sleep(1000));
}

TEST(DescriptorList, ClearedItForgetsWhatItWatched) {
  const unique_fd bell(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  descriptor_list list;
  list.add(bell.get());
  EXPECT_TRUE(list.any_readable());
  list.clear();
  EXPECT_FALSE(list.any_readable());
}

}  // namespace
}  // namespace heddle::engine
