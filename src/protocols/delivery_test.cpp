// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/delivery.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <cstddef>
#include <vector>

#include "base/checks.h"
#include "sync/combining_queue.h"
#include "sync/waker.h"
#include "tracing/operation.h"

namespace heddle::protocols {
namespace {

struct chain {
  delivery_batch* batch;
  int left;
  int ran = 0;
  static void step(void* owner, std::uint64_t, const outcome&) noexcept {
    auto& self = *static_cast<chain*>(owner);
    ++self.ran;
    if (--self.left > 0) self.batch->add({&step, &self, 0}, {});
    EXPECT_EQ(self.batch->run(), 0u);  // entered again: the outer run goes on
  }
};

// Invariant I15: reentrancy depth is bounded.
TEST(DeliveryBatch, I15AMillionCallbacksThatPostTheNextOneDoNotGrowTheStack) {
  delivery_batch batch;
  chain c{&batch, 1'000'000};
  batch.add({&chain::step, &c, 0}, {});
  EXPECT_EQ(batch.run(), 1'000'000u);
  EXPECT_EQ(c.ran, 1'000'000);
}

TEST(DeliveryBatch, ACompletionWithoutAFunctionIsNotKept) {
  delivery_batch batch;
  batch.add({}, {});
  EXPECT_EQ(batch.run(), 0u);
}

/// How often `c` was raised while `body` ran: each raise wakes whoever waits for the next.
template <class F>
std::uint64_t raises_of(counter& c, F&& body) {
  static_assert(sizeof c == sizeof(detail::signal));  // its only member
  auto& signal = reinterpret_cast<detail::signal&>(c);
  const sync::thread_waker& waker = sync::thread_waker::mine();
  waker.clear();
  signal.watch(waker.id(), 0);  // by each of them
  body();
  signal.unwatch(waker.id());
  eventfd_t wakes = 0;
  return eventfd_read(waker.fd(), &wakes) == 0 ? wakes : 0;
}

TEST(DeliveryBatch, EndingsInARowForOneCounterAreOneRaiseAndTheFirstFailureIsKept) {
  delivery_batch batch;
  counter c;
  const std::uint64_t raises = raises_of(c, [&] {
    for (const status s : {status::done, status::peer_lost, status::done, status::withdrawn})
      batch.add(c, {.code = s});
    EXPECT_EQ(batch.run(), 4u);
  });
  EXPECT_EQ(raises, 1u);
  EXPECT_EQ(c.count(), 4u);
  EXPECT_EQ(c.first_failure(), status::peer_lost);
}

TEST(DeliveryBatch, EndingsForOneCounterAreOneRaiseAlsoWhereTheyAreRecorded) {
  const trace::recording all(1, 64);
  delivery_batch batch;
  counter c;
  for (int i = 0; i < 3; ++i) {
    trace::operation watched({operation_kind::send, 3, 0, 7, 0, 8});
    batch.add(watched.instead_of(c), {});
    (void)watched.answered(status::posted);
  }
  EXPECT_EQ(raises_of(c, [&] { EXPECT_EQ(batch.run(), 3u); }), 1u);
  EXPECT_EQ(c.count(), 3u);
  int recorded = 0;
  (void)all.each(3, [&](const trace::event&) { ++recorded; });
  EXPECT_EQ(recorded, 3);
}

TEST(DeliveryBatch, EndingsOfOtherAdaptersStayInTheirPlaceAmongACountersOwn) {
  delivery_batch batch;
  counter first, second;
  std::vector<std::uint64_t> seen;
  callback look([&](const outcome&) { seen.push_back(first.count()); });
  const std::uint64_t raises = raises_of(first, [&] {
    batch.add(look, {});
    batch.add(first, {});
    batch.add(first, {});
    batch.add(look, {});
    batch.add(look, {});  // a callback runs as often as it was asked for
    batch.add(second, {});
    batch.add(first, {});
    batch.add(look, {});
    EXPECT_EQ(batch.run(), 8u);
  });
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 2, 2, 3}));
  EXPECT_EQ(raises, 2u);
  EXPECT_EQ(second.count(), 1u);
}

TEST(DeliveryBatch, EndingsInARowForOneDescriptorAreAllCounted) {
  delivery_batch batch;
  event_descriptor d;
  for (const status s : {status::done, status::canceled, status::done}) batch.add(d, {.code = s});
  batch.run();
  EXPECT_EQ(d.take(), 3u);
  EXPECT_EQ(d.first_failure(), status::canceled);
}

/// A large call, whose handler moves its payload to `*keep` if there is such a place.
void add_large_call(delivery_batch& batch, payload_memory* keep) {
  static std::max_align_t nothing;  // the handler asks nothing of its lane
  auto& lane = reinterpret_cast<engine::lane_core&>(nothing);
  const auto handle = [](void* context, heddle::lane&, const call_message& m) noexcept {
    if (context != nullptr) *static_cast<payload_memory*>(context) = m.keep();
  };
  constexpr std::size_t bytes = 1 << 20;
  batch.add_call(lane, {handle, keep}, {}, {}, batch.payloads().take(bytes), bytes);
}

TEST(DeliveryBatch, ThePayloadOfALargeCallIsThereForTheNextUnlessItsHandlerKeepsIt) {
  delivery_batch batch;
  add_large_call(batch, nullptr);
  EXPECT_EQ(batch.run(), 1u);
  EXPECT_EQ(batch.payloads().kept_bytes(), 1u << 20);
  payload_memory kept;
  add_large_call(batch, &kept);
  EXPECT_EQ(batch.payloads().kept_bytes(), 0u);
  EXPECT_EQ(batch.run(), 1u);
  EXPECT_NE(kept, nullptr);
  EXPECT_EQ(batch.payloads().kept_bytes(), 0u);
}

// Invariant I4: what raises flags and counters may run inside a hold, and nothing beside a
// callback.
TEST(DeliveryBatch, I4RaisesUnderAHoldOnlyWhereNothingElseHasEnded) {
  delivery_batch batch;
  flag f;
  counter c;
  batch.add(f, {.code = status::peer_lost});
  batch.add(c, {});
  batch.add(c, {});
  sync::combining_queue<int> lane(2);
  ASSERT_TRUE(lane.try_hold());
  batch.run_raises();
  EXPECT_TRUE(f.ready());
  EXPECT_EQ(f.result().code, status::peer_lost);
  EXPECT_EQ(c.count(), 2u);
  EXPECT_TRUE(batch.empty());
  int called = 0;
  callback calls([&](const outcome&) { ++called; });
  batch.add(c, {});
  batch.add(calls, {});
  batch.run_raises();
  EXPECT_EQ(c.count(), 2u);
  EXPECT_EQ(called, 0);
  ASSERT_TRUE(lane.release());
  EXPECT_EQ(batch.run(), 2u);
  EXPECT_EQ(called, 1);
}

// Invariant I4: no callback inside a hold.
TEST(DeliveryBatchDeathTest, I4RunningCompletionsUnderAHoldEndsADebugBuild) {
  if (!checking) GTEST_SKIP() << "only debug builds, those without NDEBUG, look";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  delivery_batch batch;
  counter c;
  batch.add(c, {});
  sync::combining_queue<int> lane(2);
  EXPECT_TRUE(lane.try_hold());
  EXPECT_DEATH(batch.run(), "heddle: a completion is about to run while its thread holds a lane");
  EXPECT_TRUE(lane.release());
  EXPECT_EQ(batch.run(), 1u);
}

}  // namespace
}  // namespace heddle::protocols
