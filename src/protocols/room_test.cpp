// SPDX-License-Identifier: BSD-3-Clause
// room_test.cpp - how many may be in flight, and who waits for one more.
#include "protocols/room.h"

#include <gtest/gtest.h>

#include "support/scripted_world.h"

namespace heddle::protocols {
namespace {

using test::ending;

TEST(Room, IsFullAtItsLimitButForWhatWasAccepted) {
  room places(2);
  places.take();
  EXPECT_FALSE(places.full());
  places.take();
  EXPECT_TRUE(places.full());
  places.must_take(true);
  EXPECT_FALSE(places.full());
  places.must_take(false);
  places.give_back();
  EXPECT_FALSE(places.full());
  EXPECT_EQ(places.taken(), 1u);
}

TEST(Room, TellsWhoWaitsOnceThereIsSome) {
  room places(1);
  delivery_batch batch;
  ending first, second;
  places.take();
  places.wait(first);
  places.wait(second);
  places.tell(batch);
  batch.run();
  EXPECT_EQ(first.count + second.count, 0);
  EXPECT_TRUE(places.is_awaited());
  places.give_back();
  places.tell(batch);
  batch.run();
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(second.count, 1);
  EXPECT_FALSE(places.is_awaited());
}

TEST(Room, TellsWhoWaitsAtTheEndAlthoughItIsFull) {
  room places(1);
  delivery_batch batch;
  ending waits;
  places.take();
  places.wait(waits);
  places.tell_all(batch);
  batch.run();
  EXPECT_EQ(waits.count, 1);
  EXPECT_FALSE(places.is_awaited());
}

}  // namespace
}  // namespace heddle::protocols
