// SPDX-License-Identifier: BSD-3-Clause
#include "base/slab_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <set>
#include <vector>

namespace heddle {
namespace {

struct counted {
  int value = 0;
  std::shared_ptr<int> held;
  counted* next_free = nullptr;
};

TEST(SlabPool, GivesObjectsThatStayWhereTheyAreWhileItGrows) {
  slab_pool<counted> pool;
  std::vector<counted*> taken;
  for (int i = 0; i < 5000; ++i) {
    taken.push_back(&pool.take());
    taken.back()->value = i;
  }
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(taken[static_cast<std::size_t>(i)]->value, i);
  EXPECT_EQ(std::set<counted*>(taken.begin(), taken.end()).size(), 5000u);
  EXPECT_EQ(pool.in_use(), 5000u);
  EXPECT_LT(pool.size(), 2u * 5000u);
}

TEST(SlabPool, TakesTheLastObjectThatWasGivenBack) {
  slab_pool<counted> pool;
  (void)pool.take();
  counted& b = pool.take();
  b.value = 7;
  pool.give_back(b);
  EXPECT_EQ(&pool.take(), &b);
  EXPECT_EQ(b.value, 7);
}

/// Of which there is memory for a hundred at once.
struct scarce {
  scarce* next_free = nullptr;
  static void* operator new[](std::size_t bytes, const std::nothrow_t& quietly) noexcept {
    return bytes > 100 * sizeof(scarce) ? nullptr : ::operator new[](bytes, quietly);
  }
  static void* operator new[](std::size_t bytes) { return ::operator new[](bytes); }
  static void operator delete[](void* at) { ::operator delete[](at); }
};

TEST(SlabPool, GrowsByLittleWhereThereIsNoMemoryForMore) {
  slab_pool<scarce> pool;
  for (int i = 0; i < 1000; ++i) (void)pool.take();
  EXPECT_LT(pool.size(), 1100u);
}

TEST(SlabPool, FreesWhatObjectsHoldWhenItIsCleared) {
  const auto held = std::make_shared<int>(1);
  slab_pool<counted> pool;
  counted& one = pool.take();
  one.held = held;
  pool.give_back(one);
  EXPECT_EQ(held.use_count(), 2);
  pool.clear();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(pool.size(), 0u);
  EXPECT_EQ(pool.take().value, 0);
}

}  // namespace
}  // namespace heddle
