// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/matcher.h"

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "base/settings.h"
#include "protocols/eager.h"
#include "protocols/peer.h"

namespace heddle::protocols {
namespace {

posted_receive& post(matcher& m, rank from, tag_match match, std::uint64_t number = 0) {
  return m.receives.post(from, match, {}, {nullptr, nullptr, number});
}

unexpected& message(matcher& in, rank from, tag t, std::uint64_t number = 0) {
  unexpected& m = in.messages.fresh();
  m.source = from;
  m.tag = t;
  m.bytes = number;
  return m;
}

TEST(Matcher, I13TheOldestReceiveThatAcceptsGetsTheMessage) {
  matcher m;
  posted_receive& wild = post(m, any_source, any_tag);
  posted_receive& exact = post(m, 1, 7);
  EXPECT_EQ(m.receives.find(1, 7), &wild);
  m.receives.take(wild);
  EXPECT_EQ(m.receives.find(1, 7), &exact);
  EXPECT_EQ(m.receives.find(1, 8), nullptr);
  EXPECT_EQ(m.receives.find(2, 7), nullptr);
}

TEST(Matcher, I13ATakerHasItsTurnAmongReceives) {
  matcher m;
  detail::taken_message place;
  posted_receive& exact = post(m, 1, 7);
  m.receives.post_taker(1, 7, place, {nullptr, nullptr, 5});
  posted_receive& wild = post(m, any_source, any_tag);
  EXPECT_EQ(m.receives.find(1, 7), &exact);
  EXPECT_EQ(m.receives.find_taker(1, 7), nullptr);
  m.receives.take(exact);
  EXPECT_EQ(m.receives.find(1, 7), nullptr);
  posted_receive* const taker = m.receives.find_taker(1, 7);
  ASSERT_NE(taker, nullptr);
  EXPECT_EQ(&taker->place(), &place);
  EXPECT_EQ(m.receives.find(1, 8), &wild);
  EXPECT_EQ(m.receives.find(completion{nullptr, nullptr, 5}), taker);
  m.receives.take(*taker);
  EXPECT_EQ(m.receives.find(1, 7), &wild);
  EXPECT_EQ(m.receives.find_taker(1, 7), nullptr);
}

TEST(Matcher, I13TheFirstMessageThatAReceiveAcceptsIsFound) {
  matcher m;
  m.messages.keep(message(m, 1, 4, 10));
  m.messages.keep(message(m, 2, 4, 11));
  m.messages.keep(message(m, 2, 5, 12));
  EXPECT_EQ(m.messages.find(2, 4)->bytes, 11u);
  EXPECT_EQ(m.messages.find(any_source, any_tag)->bytes, 10u);
  EXPECT_EQ(m.messages.find(any_source, tag_match(1, 1))->bytes, 12u);
  EXPECT_EQ(m.messages.find(1, 5), nullptr);
  m.messages.take(*m.messages.find(1, 4));
  EXPECT_EQ(m.messages.find(any_source, any_tag)->bytes, 11u);
}

TEST(Matcher, WildcardsNeverTakeReservedTags) {
  matcher m;
  m.messages.keep(message(m, 1, reserved_tag_bit | 4));
  EXPECT_EQ(m.messages.find(any_source, any_tag), nullptr);
  EXPECT_NE(m.messages.find(1, reserved_tag_bit | 4), nullptr);
}

TEST(Matcher, TheNextFloodOfAPeerUsesTheMessagesOfTheLast) {
  unexpected_messages flood;
  const std::size_t most = settings().credit_bytes / credit::cost_of(1);
  std::set<unexpected*> used;
  for (std::size_t i = 0; i < most; ++i) used.insert(&flood.fresh());
  for (unexpected* m : used) flood.recycle(*m);
  for (std::size_t i = 0; i < most; ++i) {
    EXPECT_TRUE(used.erase(&flood.fresh())) << "it came from the heap";
  }
}

TEST(Matcher, TheMemoryOfALargeFloodServesItsNextWavesAndGoesWhenLittleCame) {
  matcher m;
  const auto wave = [&m](int messages) {
    for (int i = 0; i < messages; ++i) m.messages.keep(message(m, 1, 7));
    while (unexpected* found = m.messages.find(1, 7)) m.messages.recycle(m.messages.take(*found));
    return m.messages.room();
  };
  const std::size_t flooded = wave(40'000);
  EXPECT_GE(flooded, 40'000u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(wave(1), flooded);
  EXPECT_EQ(wave(30'000), flooded);
  for (int i = 0; i < 20'000; ++i) wave(1);
  EXPECT_LT(m.messages.room(), 1000u);
}

TEST(Matcher, ForgettingAnnouncementsKeepsDataThatHasArrived) {
  matcher m;
  peer gone, other_lane;
  const auto keep = [&](peer& from, tag t, bool announced) {
    unexpected& made = message(m, 1, t);
    made.from = &from;
    made.announced = announced;
    m.messages.keep(made);
  };
  keep(gone, 1, false);
  keep(gone, 2, true);
  keep(other_lane, 3, true);
  m.messages.forget_announcements(gone);
  EXPECT_NE(m.messages.find(1, 1), nullptr);
  EXPECT_EQ(m.messages.find(1, 2), nullptr);
  EXPECT_NE(m.messages.find(1, 3), nullptr);
  EXPECT_EQ(m.messages.size(), 2u);
}

/// The same by lists in order of age: slow and plainly right.
class reference {
 public:
  struct posted {
    std::uint64_t number;
    rank from;
    tag_match match;
  };
  struct arrived {
    rank from;
    tag t;
    std::uint64_t number;
  };
  std::optional<std::uint64_t> arrive(rank from, tag t, std::uint64_t number) {
    for (auto p = posted_.begin(); p != posted_.end(); ++p) {
      if ((p->from == any_source || p->from == from) && p->match.accepts(t)) {
        const std::uint64_t receive_number = p->number;
        posted_.erase(p);
        return receive_number;
      }
    }
    arrived_.push_back({from, t, number});
    return {};
  }
  std::optional<std::uint64_t> post(std::uint64_t number, rank from, tag_match match) {
    for (auto a = arrived_.begin(); a != arrived_.end(); ++a) {
      if ((from == any_source || from == a->from) && match.accepts(a->t)) {
        const std::uint64_t message_number = a->number;
        arrived_.erase(a);
        return message_number;
      }
    }
    posted_.push_back({number, from, match});
    return {};
  }

 private:
  std::list<posted> posted_;
  std::list<arrived> arrived_;
};

TEST(Matcher, I13AgreesWithAReferenceOnRandomSchedules) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    matcher tested;
    reference expected;
    for (std::uint64_t step = 0; step < 5000; ++step) {
      const rank from = static_cast<rank>(random() % 3);
      const tag t = random() % 4;
      if (random() % 2 == 0) {
        const auto want = expected.arrive(from, t, step);
        posted_receive* got = tested.receives.find(from, t);
        ASSERT_EQ(got != nullptr, want.has_value()) << "seed " << seed << " step " << step;
        if (got != nullptr) {
          ASSERT_EQ(tested.receives.take(*got).done.cookie, *want);
        } else {
          tested.messages.keep(message(tested, from, t, step));
        }
        continue;
      }
      const rank source = random() % 4 == 0 ? any_source : from;
      const tag_match match = random() % 4 == 0 ? tag_match(t, 1) : tag_match(t);
      const auto want = expected.post(step, source, match);
      unexpected* got = tested.messages.find(source, match);
      ASSERT_EQ(got != nullptr, want.has_value()) << "seed " << seed << " step " << step;
      if (got != nullptr) {
        ASSERT_EQ(got->bytes, *want);
        tested.messages.take(*got);
      } else {
        post(tested, source, match, step);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::protocols
