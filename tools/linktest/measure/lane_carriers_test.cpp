// SPDX-License-Identifier: BSD-3-Clause
// lane_carriers_test.cpp - whole measurements by every operation over real lanes, their data looked
// at, and peers that stay silent.
#include "linktest/measure/lane_carriers.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

#include "linktest/measure/lane_messenger.h"
#include "linktest/measure/measure.h"
#include "support/ranks.h"

namespace heddle::linktest {
namespace {

using namespace std::chrono_literals;

/// What a rank of a link test has, over one backend.
struct rank_tools {
  rank_tools(world& w, const options& how, std::chrono::nanoseconds timeout,
             arrival_counter& arrived, abandoned& given_up)
      : path(w),
        bounded(path, timeout, given_up),
        wire(bounded),
        memory{w.symmetric<std::byte>(send_bytes(how)), w.symmetric<std::byte>(receive_bytes(how))},
        carriers(bounded, memory, arrived) {
    arrived.join(w, memory.receive.local());
    w.barrier();
  }
  [[nodiscard]] message_memory for_op(operation op) {
    return {memory.send.local(), memory.receive.local(), carriers.of(op)};
  }

  lane path;
  bounded_lane bounded;
  lane_messenger wire;
  common_memory memory;
  lane_carriers carriers;
};

class LaneCarriers : public ::testing::TestWithParam<const char*> {};

options quick() {
  options how;
  how.sizes = {8, 50'000};
  how.messages = 5;
  how.window = 3;
  how.warmup = 1;
  how.singles = 4;
  how.repetitions = 1;
  how.most_repetitions = 2;
  how.buffers = 2;
  return how;
}

TEST_P(LaneCarriers, CarryWholeMeasurementsOfEveryKernelWithTheRightData) {
  options how = quick();
  how.kernel = kernel::uni;  // needs the most memory
  std::array<arrival_counter, 2> arrived;
  test::run_ranks(2, test::settings_for(GetParam()), [&](world& w) {
    abandoned given_up;
    rank_tools own(w, how, 20s, arrived[static_cast<std::size_t>(w.rank())], given_up);
    meeting ranks(own.wire);
    for (const operation op : {operation::put, operation::get, operation::call}) {
      for (const kernel k : {kernel::semi, kernel::bi, kernel::uni}) {
        options mine = how;
        mine.kernel = k;
        mine.op = op;
        results all(2, k, mine.sizes);
        visit_log nowhere;
        const run_result got = measure(ranks, mine, own.for_op(op), {},
                                       {[](const progress&) {}, [] { return false; }}, nowhere);
        const bool reports =
            gather_rows(ranks, got.measured, plan_of(mine, 2), all).rows == gathered::place::here;
        EXPECT_EQ(all.count(pair_state::measured), reports ? 4u : 0u) << name_of(op) << name_of(k);
      }
    }
    w.barrier();
  });
}

TEST_P(LaneCarriers, GiveUpAPeerThatPutsNothing) {
  const options how = quick();
  std::array<arrival_counter, 2> arrived;
  test::run_ranks(2, test::settings_for(GetParam()), [&](world& w) {
    abandoned given_up;
    rank_tools own(w, how, 1s, arrived[static_cast<std::size_t>(w.rank())], given_up);
    auto* const put = std::get<told_path*>(own.carriers.of(operation::put));
    const kernel_buffers buffers = buffers_of(own.for_op(operation::put), how, 0, 8);
    ASSERT_EQ(put->prepare(own.wire, 1 - w.rank(), 0, buffers), status::done);
    if (w.rank() == 0) {
      EXPECT_EQ(put->recv(1, 0, buffers.receive, patience::usual), status::peer_lost);
    }
    w.barrier();
  });
}

TEST_P(LaneCarriers, DropWhatComesFromAVisitBefore) {
  const options how = quick();
  std::array<arrival_counter, 2> arrived;
  test::run_ranks(2, test::settings_for(GetParam()), [&](world& w) {
    abandoned given_up;
    arrival_counter& mine = arrived[static_cast<std::size_t>(w.rank())];
    rank_tools own(w, how, 20s, mine, given_up);
    auto* const call = std::get<told_path*>(own.carriers.of(operation::call));
    const kernel_buffers buffers = buffers_of(own.for_op(operation::call), how, 0, 8);
    ASSERT_EQ(call->prepare(own.wire, 1 - w.rank(), 0, buffers), status::done);
    if (w.rank() == 0) (void)mine.begin_visit();  // the ticket that rank 1 has is none any more
    w.barrier();
    if (w.rank() == 1) {
      EXPECT_EQ(call->send(0, 0, buffers.send), status::done);
      EXPECT_EQ(own.path.flush(0), status::done);
    }
    w.barrier();
    EXPECT_EQ(mine.all().count(), 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, LaneCarriers, ::testing::Values("shm", "tcp"),
                         [](const auto& backend) { return std::string(backend.param); });

}  // namespace
}  // namespace heddle::linktest
