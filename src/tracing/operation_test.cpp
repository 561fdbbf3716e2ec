// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/operation.h"

#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <thread>
#include <vector>

#include "support/ranks.h"

namespace heddle::trace {
namespace {

using test::run_ranks;
using test::settings_for;

constexpr operation_info sending{operation_kind::send, 3, 1, 7, 42, 100};

std::vector<event> events_of(const recording& r, std::int32_t self) {
  std::vector<event> all;
  (void)r.each(self, [&](const event& e) { all.push_back(e); });
  return all;
}

TEST(WatchedOperation, ThatEndsAtOnceIsOneEvent) {
  const recording all(1, 64);
  operation o(sending);
  (void)o.instead_of({});
  EXPECT_EQ(o.answered(status::done), status::done);
  const auto found = events_of(all, 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, event_kind::at_once);
  EXPECT_EQ(found[0].operation, operation_kind::send);
  EXPECT_EQ(found[0].peer, 7);
  EXPECT_EQ(found[0].lane, 1);
  EXPECT_EQ(found[0].tag, 42u);
  EXPECT_EQ(found[0].amount, 100u);
}

TEST(WatchedOperation, ThatWasBusyDidNotHappen) {
  const recording all(1, 64);
  operation o(sending);
  (void)o.instead_of({});
  (void)o.answered(status::busy_queue);
  EXPECT_TRUE(events_of(all, 3).empty());
}

TEST(WatchedOperation, ThatIsPostedIsAnEventAtItsEndAndRunsTheProgramsCompletion) {
  const recording all(1, 64);
  counter ended;
  operation o(sending);
  const completion ours = o.instead_of(ended);
  EXPECT_EQ(of_program(ours), completion(ended));
  EXPECT_EQ(of_program(ended), completion(ended));
  (void)o.answered(status::posted);
  EXPECT_TRUE(events_of(all, 3).empty());
  ours({.code = status::peer_lost, .peer = 7});
  EXPECT_EQ(ended.count(), 1u);
  EXPECT_EQ(ended.first_failure(), status::peer_lost);
  const auto found = events_of(all, 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, event_kind::operation);
  EXPECT_EQ(found[0].code, status::peer_lost);
}

TEST(WatchedOperation, OfAReceiveTellsWhatCame) {
  const recording all(1, 64);
  operation o({operation_kind::recv, 3, 0, any_source, 0, 1000});
  const completion ours = o.instead_of({});
  (void)o.answered(status::posted);
  ours({.code = status::done, .peer = 5, .tag = 9, .bytes = 17});
  const auto found = events_of(all, 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].peer, 5);
  EXPECT_EQ(found[0].tag, 9u);
  EXPECT_EQ(found[0].amount, 17u);
}

TEST(WatchedOperation, IsOneInSoManyWhereTheyAreSampled) {
  const recording all(8, 64);
  std::thread([] {
    for (int i = 0; i < 32; ++i)
      if (wants_next()) (void)operation(sending).answered(status::done);
  }).join();
  EXPECT_EQ(events_of(all, 3).size(), 4u);
}

TEST(WatchedOperation, IsCountedAnewWhereALaterRecordTakesMore) {
  std::thread([] {
    const auto post = [] {
      if (wants_next()) (void)operation(sending).answered(status::done);
    };
    for (const recording few(1000, 64); events_of(few, 3).empty();) post();
    const recording all(1, 64);
    for (int i = 0; i < 4; ++i) post();
    EXPECT_EQ(events_of(all, 3).size(), 4u);
  }).join();
}

TEST(WatchedOperation, ThatIsSmallAndEndsAtOnceSharesAReadingOfTheClock) {
  constexpr std::uint32_t count = most_untimed + 3;
  const recording all(1, 64);
  std::thread([] {
    for (std::uint32_t i = 0; i < count; ++i) (void)operation(sending).answered(status::done);
  }).join();
  const auto found = events_of(all, 3);
  ASSERT_EQ(found.size(), count);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].timed, i % (most_untimed + 1) == 0) << i;
    if (found[i].timed) continue;
    EXPECT_EQ(found[i].begin, found[i - 1].end);
    EXPECT_EQ(found[i].end, found[i].begin);
  }
}

/// Their completions.
std::vector<completion> three_posted() {
  std::vector<completion> posted;
  for (int i = 0; i < 3; ++i) {
    operation o(sending);
    posted.push_back(o.instead_of({}));
    (void)o.answered(status::posted);
  }
  return posted;
}

TEST(WatchedOperation, ThatIsPostedBehindAnotherBeganAfterTheReadingBefore) {
  const recording all(1, 64);
  std::thread([] {
    for (const completion& ended : three_posted()) ended({});
  }).join();
  const auto found = events_of(all, 3);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].timed);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_FALSE(found[i].timed);
    EXPECT_EQ(found[i].begin, found[0].begin);
  }
}

TEST(WatchedOperation, IsTimedWhereItIsLargeOrBehindTheEndOfOneThatWasPosted) {
  const recording all(1, 64);
  std::thread([] {
    (void)operation(sending).answered(status::done);
    operation_info large = sending;
    large.bytes = most_untimed_bytes + 1;
    (void)operation(large).answered(status::done);
    operation posted(sending);
    const completion ended = posted.instead_of({});
    (void)posted.answered(status::posted);
    ended({});
    (void)operation(sending).answered(status::done);
  }).join();
  const auto found = events_of(all, 3);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_TRUE(found[0].timed);
  EXPECT_TRUE(found[1].timed);
  EXPECT_TRUE(found[3].timed);
}

TEST(WatchedOperation, SharesTheTimeOfItsEndWithThoseThatAreDeliveredTogether) {
  const recording all(1, 64);
  std::thread([] {
    std::vector<completion> posted = three_posted();
    {
      ends_together together;
      together.tell(posted[0], {});
      together.tell(posted[1], {});
    }
    posted[2]({});
  }).join();
  const auto found = events_of(all, 3);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_GE(found[0].end, found[1].begin);
  EXPECT_EQ(found[0].end, found[1].end);
  EXPECT_GT(found[2].end, found[1].end);
}

struct tool {
  std::vector<operation_info> begun, ended;
  std::vector<std::uint64_t> marks;
  std::vector<status> codes;
  operation_hooks hooks{
      [](void* self, const operation_info& of) noexcept {
        auto& t = *static_cast<tool*>(self);
        t.begun.push_back(of);
        return std::uint64_t{t.begun.size()};
      },
      [](void* self, std::uint64_t mark, const operation_info& of, status code) noexcept {
        auto& t = *static_cast<tool*>(self);
        t.marks.push_back(mark);
        t.ended.push_back(of);
        t.codes.push_back(code);
      },
      this};
};

TEST(OperationHooks, HearOfEachOperationOnceAtItsBeginAndOnceAtItsEnd) {
  tool heard;
  run_ranks(1, settings_for("shm"), [&](world& w) {
    lane l(w);
    const auto array = w.symmetric<std::uint64_t>(1);
    const std::vector<std::byte> data(24);
    std::vector<std::byte> into(24);
    set_operation_hooks(heard.hooks);
    flag came;
    ASSERT_EQ(l.try_recv(any_source, any_tag, into, came), status::posted);
    ASSERT_EQ(l.send(0, 9, data), status::done);
    EXPECT_EQ(l.wait(came), status::done);
    ASSERT_EQ(l.put(std::uint64_t{1}, array.at(0, 0)), status::done);
    ASSERT_EQ(l.send(5, 9, data), status::invalid);
    set_operation_hooks({});
    ASSERT_EQ(l.put(std::uint64_t{1}, array.at(0, 0)), status::done);
  });
  ASSERT_EQ(heard.begun.size(), 4u);
  ASSERT_EQ(heard.ended.size(), 4u);
  EXPECT_EQ(heard.begun[0].kind, operation_kind::recv);
  EXPECT_EQ(heard.begun[0].peer, any_source);
  EXPECT_EQ(heard.begun[1].kind, operation_kind::send);
  EXPECT_EQ(heard.begun[1].bytes, 24u);
  EXPECT_EQ(heard.begun[2].kind, operation_kind::put);
  for (std::size_t i = 0; i < 4; ++i)  // whatever the order
    EXPECT_EQ(heard.ended[i].kind, heard.begun[heard.marks[i] - 1].kind);
  EXPECT_EQ(heard.codes.back(), status::invalid);
  EXPECT_FALSE(is_watched());
}

TEST(OperationHooks, LeaveACancelToFindItsReceive) {
  tool heard;
  run_ranks(1, settings_for("shm"), [&](world& w) {
    lane l(w);
    std::vector<std::byte> into(8);
    flag never;
    set_operation_hooks(heard.hooks);
    ASSERT_EQ(l.try_recv(0, 1, into, never), status::posted);
    status s = l.try_cancel(never);
    while (is_busy(s)) s = l.try_cancel(never);
    EXPECT_EQ(s, status::done);
    EXPECT_EQ(never.result().code, status::canceled);
    set_operation_hooks({});
  });
  EXPECT_EQ(heard.codes, std::vector<status>{status::canceled});
}

TEST(OperationHooks, HearOfEachWhileOperationsAreAlsoSampledForARecord) {
  tool heard;
  const recording all(16, 64);
  run_ranks(1, settings_for("shm"), [&](world& w) {
    lane l(w);
    set_operation_hooks(heard.hooks);
    for (int i = 0; i < 64; ++i) (void)l.send(5, 1, {});
    set_operation_hooks({});
  });
  EXPECT_EQ(heard.ended.size(), 64u);
  std::size_t sends = 0;
  for (const event& e : events_of(all, 0))
    if (e.operation == operation_kind::send && e.tag == 1) ++sends;
  EXPECT_EQ(sends, 4u);
}

}  // namespace
}  // namespace heddle::trace
