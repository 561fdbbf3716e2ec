// SPDX-License-Identifier: BSD-3-Clause
#include "engine/handler_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <atomic>

#include "support/engine_ways.h"
#include "support/refusal.h"

namespace heddle::engine {
namespace {

using test::refusal;

void nothing(void*, lane&, const call_message&) noexcept {}
void ignore(void*, lane&, handler_id, const call_message&) noexcept {}

handler_id name(handler_table& t, const char* what) {
  const handler_id id = t.next_named(what);
  t.set_named(what, id);
  t.set(id, &nothing, nullptr);
  return id;
}

TEST(HandlerTable, NamesGetIdsFromTheHighestDown) {
  handler_table t;
  EXPECT_EQ(name(t, "a"), max_handlers - 1);
  EXPECT_EQ(name(t, "b"), max_handlers - 2);
  EXPECT_EQ(t.find("a"), max_handlers - 1);
  EXPECT_EQ(t.find("b"), max_handlers - 2);
  EXPECT_NE(t.all()[max_handlers - 2].get(), nullptr);
  EXPECT_EQ(t.all()[max_handlers - 3].get(), nullptr);
}

TEST(HandlerTable, AnUnknownNameIsNamedBesideThoseThereAre) {
  handler_table t;
  EXPECT_EQ(refusal([&] { (void)t.find("x"); }),
            "no handler is called x; those with names are: none");
  name(t, "steal");
  name(t, "answer");
  EXPECT_EQ(refusal([&] { (void)t.find("steel"); }),
            "no handler is called steel; those with names are: answer, steal");
}

TEST(HandlerTable, AHandlerInThePlaceOfAnotherKindLeavesOnlyItself) {
  handler_table t;
  t.set_at_header(
      1, [](void*, lane&, const arriving_call&) noexcept {}, nullptr);
  EXPECT_NE(t.at_header()[1].get(), nullptr);
  t.set(1, &nothing, nullptr);
  EXPECT_NE(t.all()[1].get(), nullptr);
  EXPECT_EQ(t.at_header()[1].get(), nullptr);
}

TEST(HandlerTable, ANameOrAnIdThatIsTakenIsRefused) {
  handler_table t;
  name(t, "a");
  EXPECT_THAT(refusal([&] { (void)t.next_named("a"); }), testing::HasSubstr("called a already"));
  EXPECT_THAT(refusal([&] { (void)t.next_named(""); }), testing::HasSubstr("is empty"));
  t.set(max_handlers - 2, &nothing, nullptr);
  EXPECT_THAT(refusal([&] { (void)t.next_named("b"); }),
              testing::HasSubstr("its id would be 1022"));
  EXPECT_THAT(refusal([&] { t.set(max_handlers, &nothing, nullptr); }),
              testing::HasSubstr("ids go from 0 to 1023"));
}

TEST(HandlerTable, WhatIsForUnknownIdsGivesWayToWhatIsSetAndComesBack) {
  handler_table t;
  t.set(3, &nothing, nullptr);
  const auto* const own = t.all()[3].get();
  t.set_for_unknown(&ignore, nullptr);
  EXPECT_EQ(t.all()[3].get(), own);
  const auto* const others = t.all()[4].get();
  ASSERT_NE(others, nullptr);
  t.set(4, &nothing, nullptr);
  EXPECT_EQ(t.all()[4].get()->function, &nothing);
  t.set(4, nullptr, nullptr);
  EXPECT_EQ(t.all()[4].get(), others);
  t.set_for_unknown(nullptr, nullptr);
  EXPECT_EQ(t.all()[4].get(), nullptr);
  EXPECT_EQ(t.all()[3].get(), own);
}

TEST(HandlerTable, AnIdHasOneHandlerOfEitherKind) {
  handler_table t;
  const auto at_header = [](void*, lane&, const arriving_call&) noexcept {};
  t.set_for_unknown(&ignore, nullptr);
  t.set(3, &nothing, nullptr);
  t.set_at_header(3, at_header, nullptr);
  EXPECT_EQ(t.all()[3].get(), nullptr) << "neither the other one nor that for unknown ids";
  EXPECT_NE(t.at_header()[3].get(), nullptr);
  t.set(3, &nothing, nullptr);
  EXPECT_NE(t.all()[3].get(), nullptr);
  EXPECT_EQ(t.at_header()[3].get(), nullptr);
  EXPECT_THAT(refusal([&] { t.set_at_header(max_handlers, at_header, nullptr); }),
              testing::HasSubstr("ids go from 0 to 1023"));
}

TEST(HandlerTable, HandlersThatReplaceEachOtherInTurnAreKeptOnce) {
  handler_table t;
  const auto at_header = [](void*, lane&, const arriving_call&) noexcept {};
  const auto set = [&](auto setter, auto handler, void* context) {
    (t.*setter)(1, handler, context);
    const bool header = t.at_header()[1].get() != nullptr;
    return header ? t.at_header()[1].get() : t.all()[1].get();
  };
  const auto unknown = [&](void* context) {
    t.set_for_unknown(&ignore, context);
    return t.all()[2].get();
  };
  int other = 0;
  const auto* const call = set(&handler_table::set, &nothing, nullptr);
  const auto* const early = set(&handler_table::set_at_header, at_header, nullptr);
  const auto* const rest = unknown(nullptr);
  EXPECT_NE(set(&handler_table::set, &nothing, &other), call);
  EXPECT_NE(set(&handler_table::set_at_header, at_header, &other), early);
  EXPECT_NE(unknown(&other), rest);
  EXPECT_EQ(set(&handler_table::set, &nothing, nullptr), call);
  EXPECT_EQ(set(&handler_table::set_at_header, at_header, nullptr), early);
  EXPECT_EQ(unknown(nullptr), rest);
}

class Handlers : public test::Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, Handlers, test::all_ways(), test::name_of_way);

/// Atomics of the standard, as here no engine shares anything: handlers count on whichever thread
/// drives a lane.
struct heard {
  std::atomic<int> calls{0};
  std::atomic<handler_id> id{0};
  std::atomic<std::size_t> bytes{0};
};

TEST_P(Handlers, WithNamesHaveTheSameIdOnEveryRank) {
  test::run_ranks(3, config(), [](world& w) {
    heard here;
    const auto count = [](void* of, lane&, const call_message& m) noexcept {
      auto& h = *static_cast<heard*>(of);
      h.bytes += m.payload.size();
      ++h.calls;
    };
    lane l(w);
    const handler_id first = w.add_handler("first", count);
    const handler_id second = w.add_handler("second", count, &here);
    EXPECT_NE(first, second);
    EXPECT_EQ(w.handler("second"), second);
    EXPECT_THROW((void)w.handler("third"), error);
    w.barrier();
    for (rank r = 0; r < w.size(); ++r)
      EXPECT_EQ(l.call(r, w.handler("second"), {}, test::pattern(10)), status::done);
    while (here.calls < w.size()) l.poll();
    EXPECT_EQ(here.bytes, 30u);
    w.barrier();
  });
}

TEST_P(Handlers, ThatDifferInTheirNamesAreRefusedOnEveryRank) {
  test::run_ranks(2, config(), [](world& w) {
    const auto none = [](void*, lane&, const call_message&) noexcept {};
    const std::string why =
        refusal([&] { (void)w.add_handler(w.rank() == 0 ? "left" : "right", none); });
    EXPECT_THAT(why, testing::HasSubstr(w.rank() == 0 ? "handler left" : "handler right"));
    EXPECT_THAT(why, testing::HasSubstr("another name"));
    EXPECT_EQ(w.add_handler("both", none), max_handlers - 1);
  });
}

TEST_P(Handlers, AreToldOfCallsForIdsThatHaveNone) {
  test::run_ranks(2, config(), [](world& w) {
    heard here;
    lane l(w);
    w.on_unknown_call(
        [](void* of, lane&, handler_id id, const call_message& m) noexcept {
          auto& h = *static_cast<heard*>(of);
          h.id = id;
          h.bytes += m.payload.size();
          ++h.calls;
        },
        &here);
    w.barrier();
    for (const std::size_t bytes : {10u, 1'000'000u})  // at once, and fetched
      EXPECT_EQ(l.call(1 - w.rank(), 77, {}, test::pattern(bytes)), status::done);
    while (here.calls < 2) l.poll();
    EXPECT_EQ(here.id, 77);
    EXPECT_EQ(here.bytes, 1'000'010u);
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::engine
