// SPDX-License-Identifier: BSD-3-Clause
// header_handler_test.cpp - calls whose handler says where their payload goes.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <array>
#include <atomic>
#include <cstring>
#include <list>
#include <mutex>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::engine {
namespace {

class HeaderHandler : public test::Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, HeaderHandler, test::all_ways(), test::name_of_way);

// At once, at once beside the message, and fetched.
constexpr std::array<std::size_t, 5> lengths{0, 10, 100, 5'000, 1'000'000};

/// Places for the payloads, by the number in the header.
struct places {
  std::array<std::vector<std::byte>, lengths.size()> at;
  counter filled;
  std::atomic<int> told{0};
};

void place(void* of, lane& here, const arriving_call& call) noexcept {
  auto& mine = *static_cast<places*>(of);
  std::uint64_t number = 0;
  std::memcpy(&number, call.header.data(), sizeof number);
  mine.at[number].resize(call.payload.what().bytes);
  EXPECT_EQ(here.try_recv(call.payload, mine.at[number], mine.filled), status::posted);
  ++mine.told;
}

TEST_P(HeaderHandler, ChoosesWhereEachPayloadGoes) {
  test::run_ranks(2, config(), [](world& w) {
    places mine;
    w.set_header_handler(5, &place, &mine);
    lane l(w);
    w.barrier();
    for (std::uint64_t i = 0; i < lengths.size(); ++i)
      ASSERT_EQ(l.call(1 - w.rank(), 5, std::as_bytes(std::span(&i, 1)), test::pattern(lengths[i])),
                status::done);
    while (mine.told < static_cast<int>(lengths.size())) l.poll();
    EXPECT_EQ(l.wait(mine.filled, lengths.size()), status::done);
    for (std::size_t i = 0; i < lengths.size(); ++i)
      EXPECT_EQ(mine.at[i], test::pattern(lengths[i])) << lengths[i] << " bytes";
    w.barrier();
  });
}

/// Payloads that the program receives when it likes.
struct kept_payloads {
  std::mutex mutex;
  std::vector<matched_message> all;
  [[nodiscard]] std::size_t size() {
    const std::lock_guard lock(mutex);
    return all.size();
  }
};

TEST_P(HeaderHandler, MayLeaveThePayloadForLater) {
  test::run_ranks(2, config(), [](world& w) {
    kept_payloads mine;
    w.set_header_handler(
        5,
        [](void* of, lane&, const arriving_call& call) noexcept {
          auto& kept = *static_cast<kept_payloads*>(of);
          const std::lock_guard lock(kept.mutex);
          kept.all.push_back(std::move(call.payload));
        },
        &mine);
    lane l(w);
    w.barrier();
    counter called;
    std::list<std::vector<std::byte>> sent;
    for (const std::size_t bytes : lengths)
      ASSERT_FALSE(is_busy(called.track(
          l.try_call(1 - w.rank(), 5, {}, sent.emplace_back(test::pattern(bytes)), called))));
    while (mine.size() < lengths.size()) l.poll();
    w.barrier();
    for (matched_message& each : mine.all) {
      const outcome what = each.what();
      EXPECT_EQ(what.peer, 1 - w.rank());
      std::vector<std::byte> into(what.bytes);
      EXPECT_EQ(l.recv(each, into).code, status::done);
      EXPECT_EQ(into, test::pattern(what.bytes));
    }
    EXPECT_EQ(l.wait(called, lengths.size()), status::done);
    w.barrier();
  });
}

TEST_P(HeaderHandler, DropsWhatItDoesNotTakeAndTheSenderGoesOn) {
  test::run_ranks(2, config(), [](world& w) {
    std::atomic<int> told{0};
    w.set_header_handler(
        5,
        [](void* of, lane&, const arriving_call&) noexcept {
          ++*static_cast<std::atomic<int>*>(of);
        },
        &told);
    lane l(w);
    w.barrier();
    for (const std::size_t bytes : lengths)
      EXPECT_EQ(l.call(1 - w.rank(), 5, {}, test::pattern(bytes)), status::done);
    while (told < static_cast<int>(lengths.size())) l.poll();
    w.barrier();
  });
}

TEST_P(HeaderHandler, IsToldOfAPayloadThatDoesNotFit) {
  test::run_ranks(2, config(), [](world& w) {
    struct {
      std::array<std::byte, 4> small{};
      counter ended;
    } mine;
    w.set_header_handler(
        5,
        [](void* of, lane& here, const arriving_call& call) noexcept {
          auto& m = *static_cast<decltype(mine)*>(of);
          EXPECT_EQ(here.try_recv(call.payload, m.small, m.ended), status::posted);
        },
        &mine);
    lane l(w);
    w.barrier();
    EXPECT_EQ(l.call(1 - w.rank(), 5, {}, test::pattern(10)), status::done);
    EXPECT_EQ(l.call(1 - w.rank(), 5, {}, test::pattern(1'000'000)), status::done);
    EXPECT_EQ(l.wait(mine.ended, 2), status::truncated);
    w.barrier();
  });
}

TEST_P(HeaderHandler, HearsOfPutsThatNotifyAndHasANameWhereWanted) {
  test::run_ranks(2, config(), [](world& w) {
    const auto memory = w.symmetric<std::uint64_t>(1);
    std::atomic<std::uint64_t> operand{0};
    const handler_id told = w.add_header_handler(
        "told",
        [](void* of, lane&, const arriving_call& call) noexcept {
          std::uint64_t header = 0;
          std::memcpy(&header, call.header.data(), sizeof header);
          EXPECT_EQ(call.payload.what().bytes, 0u);
          *static_cast<std::atomic<std::uint64_t>*>(of) = header;
        },
        &operand);
    lane l(w);
    w.barrier();
    const std::uint64_t value = 7;
    EXPECT_EQ(l.put_notify(std::as_bytes(std::span(&value, 1)), memory.at(1 - w.rank()), told, 42),
              status::done);
    while (operand != 42) l.poll();
    EXPECT_EQ(memory.local()[0], 7u);
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::engine
