// SPDX-License-Identifier: BSD-3-Clause
// The timing models: a post's real cost, and virtual clocks.
#include <softtofu.h>

#include <chrono>

#include "lane.h"

using namespace nodes;

namespace {

const knobs virtual_clock{{"MODEL", "virtual"}, {"SHAPE", "1x1x8x1x1x1"}};

/// Virtual nanoseconds that `f` takes.
template <class F>
unsigned long taken(const F& f) {
  const unsigned long before = softtofu_virtual_ns();
  f();
  return softtofu_virtual_ns() - before;
}

/// The clock of process `to` when it hears of a small put of process 0, which begins at 0.
unsigned long one_way_to(unsigned to) {
  board& shared = make_board();
  run(to + 1, virtual_clock, [&](unsigned me, board& all) {
    const lane mine;
    publish(all, me, mine);
    all.meet(to + 1);
    if (me == 0) {
      const address peer = address_of(all, to);
      EXPECT_EQ(utofu_put_piggyback8(mine.vcq, peer.id, 1, peer.stadd, 8, 0, remote, nullptr),
                UTOFU_SUCCESS);
    }
    if (me == to) {
      utofu_mrq_notice notice;
      EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
      shared.words[0] = softtofu_virtual_ns();
    }
    all.meet(to + 1);
  });
  const unsigned long found = shared.words[0];
  munmap(&shared, sizeof shared);
  return found;
}

TEST(VirtualClock, ASmallPutTakesAboutAMicrosecondAndALittleMorePerHop) {
  const unsigned long near = one_way_to(1);
  EXPECT_NEAR(static_cast<double>(near), 981, 3);
  EXPECT_EQ(one_way_to(2), near + 80);
  EXPECT_EQ(one_way_to(3), near + 160);
}

/// A lane of process 1's in a program whose process 0 does `f`.
void with_neighbour(const std::function<void(const lane&, address)>& f) {
  run(2, virtual_clock, [&](unsigned me, board& all) {
    const lane mine(0, 0, 1 << 20);
    publish(all, me, mine);
    all.meet(2);
    if (me == 0) f(mine, address_of(all, 1));
    all.meet(2);
  });
}

TEST(VirtualClock, GetsAndArmwsTakeTheirRoundTrip) {
  with_neighbour([](const lane& mine, address to) {
    utofu_mrq_notice notice;
    EXPECT_NEAR(static_cast<double>(taken([&] {
                  utofu_get(mine.vcq, to.id, mine.stadd, to.stadd, 8, 0, local, nullptr);
                  EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
                })),
                1480, 10);
    EXPECT_NEAR(static_cast<double>(taken([&] {
                  utofu_armw8(mine.vcq, to.id, UTOFU_ARMW_OP_ADD, 1, to.stadd, 0, local, nullptr);
                  EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
                })),
                1320, 10);
  });
}

TEST(VirtualClock, AStreamOfLargePutsReachesTheLinksBandwidth) {
  with_neighbour([](const lane& mine, address to) {
    constexpr unsigned count = 100;
    constexpr std::size_t bytes = 1 << 19;
    const unsigned long ns = taken([&] {
      utofu_mrq_notice notice;
      for (unsigned i = 0; i < count; ++i) {
        utofu_put(mine.vcq, to.id, mine.stadd, to.stadd, bytes, 0, local, nullptr);
      }
      for (unsigned i = 0; i < count; ++i) EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
    });
    const double rate = static_cast<double>(count * bytes) / static_cast<double>(ns);
    EXPECT_NEAR(rate, 6.3, 0.1);
  });
}

TEST(VirtualClock, SeveralTnisToOnePeerShareTheLink) {
  with_neighbour([](const lane& mine, address to) {
    const lane second(1, 0, 1 << 20);
    constexpr std::size_t bytes = 1 << 19;
    const auto send = [&](const lane& a, const lane& b) {
      return taken([&] {
        utofu_mrq_notice notice;
        for (const lane* one : {&a, &b}) {
          utofu_put(one->vcq, to.id, one->stadd, to.stadd, bytes, 0, local, nullptr);
        }
        for (const lane* one : {&a, &b}) EXPECT_EQ(one->await_mrq(notice), UTOFU_SUCCESS);
      });
    };
    const auto one_tni = static_cast<double>(send(mine, mine));
    EXPECT_NEAR(static_cast<double>(send(mine, second)), one_tni, one_tni / 100);
  });
}

TEST(VirtualClock, StandsStillWithoutTheModel) {
  alone({}, [] {
    const lane mine;
    EXPECT_EQ(utofu_put_piggyback8(mine.vcq, mine.id, 1, mine.stadd, 8, 0, local, nullptr),
              UTOFU_SUCCESS);
    utofu_mrq_notice notice;
    EXPECT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
    EXPECT_EQ(softtofu_virtual_ns(), 0u);
  });
}

TEST(CpuModel, APostTakesAsLongAsAsked) {
  alone({{"MODEL", "cpu"}, {"POST_NS", "5000"}}, [] {
    const lane mine;
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i) {
      EXPECT_EQ(utofu_put_piggyback8(mine.vcq, mine.id, 1, mine.stadd, 8, 0, 0, nullptr),
                UTOFU_SUCCESS);
    }
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(1));
  });
}

}  // namespace
