// SPDX-License-Identifier: BSD-3-Clause
// lanes_test.cpp - however many lanes a process has, a key is as long and reaches as far.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <array>
#include <vector>

#include "support/ranks.h"

namespace heddle::test {
namespace {

class UtofuLanes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, UtofuLanes, testing::Values(1, 24, 48, 54),
                         testing::PrintToStringParamName());

// One rank, to itself: 54 are all CQs that a node has for programs.
TEST_P(UtofuLanes, AllReachARegionByOneKeyOfOneSize) {
  settings s = settings_for("utofu");
  s.others["HEDDLE_UTOFU_LANES"] = std::to_string(GetParam());
  s.others["HEDDLE_UTOFU_CQS"] = "9";
  run_ranks(1, s, [](world& w) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(GetParam()));
    const region mine = w.expose(std::as_writable_bytes(std::span(words)));
    const key k = mine.key();
    EXPECT_EQ(k.bytes.size(), 48u);
    const remote_region there = w.import(k);
    for (std::size_t i = 0; i < words.size(); ++i) {
      lane l(w, {.number = static_cast<int>(i)});
      const std::uint64_t value = i + 1;
      const remote_address to = there.at(i * sizeof value);
      EXPECT_EQ(l.put(std::as_bytes(std::span(&value, 1)), to), status::done);
      EXPECT_EQ(words[i], value);
    }
  });
}

// Lanes 6 and up share a queue with a lower one, whose tags are not theirs.
TEST(UtofuLanesThatShareAQueue, AreToldOfPutsOnceTheBytesAreThere) {
  settings s = settings_for("utofu");
  s.others["HEDDLE_UTOFU_LANES"] = "12";
  s.others["HEDDLE_UTOFU_CQS"] = "0";
  run_ranks(2, s, [](world& w) {
    auto words = w.symmetric<std::uint64_t>(12);
    static std::array<std::uint64_t, 2> told;
    told[static_cast<std::size_t>(w.rank())] = 0;
    w.set_handler(
        1,
        [](void* mine, lane& /*here*/, const call_message& /*m*/) noexcept {
          ++*static_cast<std::uint64_t*>(mine);
        },
        &told[static_cast<std::size_t>(w.rank())]);
    w.barrier();
    const rank peer = 1 - w.rank();
    std::uint64_t rounds = 0;
    for (const int number : {0, 5, 6, 11}) {
      lane l(w, {.number = number});
      w.barrier();
      const std::uint64_t& heard = told[static_cast<std::size_t>(w.rank())];
      for (std::uint64_t round = 1; round <= 5; ++round) {
        const std::uint64_t value = round, expected = ++rounds;
        const auto at = static_cast<std::uint64_t>(number);
        EXPECT_EQ(l.put_notify(std::as_bytes(std::span(&value, 1)), words.at(peer, at), 1, 0),
                  status::done);
        EXPECT_EQ(l.wait_until(heard, [&](std::uint64_t now) { return now == expected; }),
                  status::done);
        EXPECT_EQ(words.local()[at], value);
        w.barrier();
      }
    }
  });
}

TEST(UtofuLanesBeyond, GoOverTheNextBackendWhichDoesNoAtomicsThere) {
  settings s = settings_for("utofu,tcp");
  s.others["HEDDLE_UTOFU_LANES"] = "2";
  run_ranks(2, s, [](world& w) {
    auto words = w.symmetric<std::uint64_t>(8);
    const rank peer = 1 - w.rank();
    for (const int number : {1, 2, 9}) {
      lane l(w, {.number = number});
      const auto data = pattern(100'000, static_cast<std::uint64_t>(number));
      std::vector<std::byte> into(data.size());
      flag got;
      EXPECT_EQ(l.try_recv(peer, 1, into, got), status::posted);
      EXPECT_EQ(l.send(peer, 1, data), status::done);
      EXPECT_EQ(l.wait(got), status::done);
      EXPECT_EQ(into, data);
      EXPECT_EQ(l.put(std::uint64_t{7}, words.at(peer, 3)), status::done);
      std::uint64_t old = 0;
      EXPECT_EQ(l.fetch_add(words.at(peer, 0), std::uint64_t{1}, old),
                number < 2 ? status::done : status::unsupported);
      w.barrier();
    }
    EXPECT_EQ(words.local()[3], 7u);
    EXPECT_EQ(words.local()[0], 1u);
  });
}

TEST(UtofuLanesBeyond, OfAPeerAreReachedOverTheNextBackendOrNot) {
  for (const char* wires : {"utofu,tcp", "utofu"}) {
    settings s = settings_for(wires);
    s.others["HEDDLE_UTOFU_LANES"] = "2";
    const bool reached = std::string(wires) != "utofu";
    run_ranks(2, s, [&](world& w) {
      lane l(w, {.number = 1});
      lane far(w, {.number = reached ? 9 : 0});
      w.barrier();
      const std::byte data{42};
      if (w.rank() == 0) {
        EXPECT_EQ(l.send({1, 9}, 1, {&data, 1}), reached ? status::done : status::invalid) << wires;
      } else if (reached) {
        std::byte got{};
        const outcome o = far.recv(0, 1, {&got, 1});
        EXPECT_EQ(o.code, status::done);
        EXPECT_EQ(o.lane, 1);
        EXPECT_EQ(got, data);
      }
      w.barrier();
    });
  }
}

TEST(UtofuLanesBeyond, CannotBeOpenedWithoutAnotherBackend) {
  settings s = settings_for("utofu");
  s.others["HEDDLE_UTOFU_LANES"] = "2";
  run_ranks(1, s, [](world& w) {
    try {
      lane l(w, {.number = 2});
      ADD_FAILURE() << "opened";
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("HEDDLE_UTOFU_LANES"), std::string::npos) << e.what();
    }
  });
}

}  // namespace
}  // namespace heddle::test
