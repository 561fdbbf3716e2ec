// SPDX-License-Identifier: BSD-3-Clause
// What may be late and out of order is, in mode chaos, and what may not be is not, in any mode.
#include <functional>
#include <set>

#include "lane.h"

using namespace nodes;

namespace {

constexpr std::size_t words = 16;

/// Puts a block of `words` equal words of each round into the target and watches it arrive while
/// polling. Returns how often the last word was there before the others.
unsigned early_last_words(unsigned long order, const char* seed) {
  board& all = make_board();
  alone({{"MODE", "chaos"}, {"SEED", seed}}, [&] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), target(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    auto& from = mine.memory.as<std::array<std::uint64_t, words>>();
    auto& to = target.memory.as<std::array<std::uint64_t, words>>();
    unsigned early = 0;
    for (std::uint64_t round = 1; round <= 200; ++round) {
      from.fill(round);
      ASSERT_EQ(utofu_put(mine.vcq, target.id, mine.stadd, target.stadd, sizeof from, 0,
                          order | local, nullptr),
                UTOFU_SUCCESS);
      utofu_mrq_notice notice;
      bool was_early = false;
      while (utofu_poll_mrq(mine.vcq, 0, &notice) == UTOFU_ERR_NOT_FOUND) {
        was_early = was_early || (to.back() == round && to.front() != round);
      }
      EXPECT_EQ(to, from) << "the notice comes after the data";
      early += was_early ? 1 : 0;
      void* cbdata = nullptr;
      while (utofu_poll_tcq(mine.vcq, 0, &cbdata) == UTOFU_SUCCESS) {
      }
    }
    all.words[0] = early;
  });
  const auto found = static_cast<unsigned>(all.words[0]);
  munmap(&all, sizeof all);
  return found;
}

TEST(Chaos, WritesThePiecesOfAPutInAnyOrder) {
  EXPECT_GT(early_last_words(0, "1"), 20u);
}

TEST(Chaos, WritesAPutWithStrongOrderInOrder) {
  EXPECT_EQ(early_last_words(strong, "1"), 0u);
}

TEST(Chaos, IsTheSameForTheSameSeedAndAnotherForAnother) {
  std::set<unsigned> found;
  for (const char* seed : {"1", "2", "3", "4"}) {
    found.insert(early_last_words(0, seed));
    found.insert(early_last_words(0, seed));
  }
  EXPECT_GT(found.size(), 1u);
  EXPECT_LE(found.size(), 4u);
}

/// A payload, then a flag in a put of its own: how often the flag was there first.
unsigned early_flags(unsigned long order) {
  board& all = make_board();
  alone({{"MODE", "chaos"}}, [&] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), target(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    auto& from = mine.memory.as<std::array<std::uint64_t, words>>();
    auto& to = target.memory.as<std::array<std::uint64_t, words>>();
    const auto& flag = target.memory.as<std::uint64_t>(4096);
    unsigned early = 0;
    for (std::uint64_t round = 1; round <= 500; ++round) {
      from.fill(round);
      ASSERT_EQ(
          utofu_put(mine.vcq, target.id, mine.stadd, target.stadd, sizeof from, 0, order, nullptr),
          UTOFU_SUCCESS);
      ASSERT_EQ(utofu_put_piggyback8(mine.vcq, target.id, round, target.stadd + 4096, 8, 0, order,
                                     nullptr),
                UTOFU_SUCCESS);
      while (flag != round) {
        void* cbdata = nullptr;
        utofu_poll_tcq(mine.vcq, 0, &cbdata);
      }
      early += to == from ? 0 : 1;
      settle(mine, {target.id, target.stadd});
    }
    all.words[0] = early;
  });
  const auto found = static_cast<unsigned>(all.words[0]);
  munmap(&all, sizeof all);
  return found;
}

TEST(Chaos, LetsAFlagOvertakeItsPayloadWithoutStrongOrder) {
  EXPECT_GT(early_flags(0), 10u);
}

TEST(Chaos, NeverLetsAFlagOvertakeItsPayloadWithIt) {
  EXPECT_EQ(early_flags(strong), 0u);
}

TEST(Chaos, KeepsNoticesOfAStreamInOrderAndMixesThoseOfDifferentOnes) {
  alone({{"MODE", "chaos"}}, [] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE);
    const lane first(1, UTOFU_VCQ_FLAG_EXCLUSIVE), second(2, UTOFU_VCQ_FLAG_EXCLUSIVE);
    constexpr unsigned count = 200;
    for (unsigned i = 0; i < count; ++i) {
      const lane& to = i % 2 == 0 ? first : second;
      ASSERT_EQ(utofu_put_piggyback8(mine.vcq, to.id, i, to.stadd, 8, i, local | remote, nullptr),
                UTOFU_SUCCESS);
    }
    unsigned next[2] = {0, 1}, overtakes = 0, last = 0;
    for (unsigned i = 0; i < count; ++i) {
      utofu_mrq_notice notice;
      ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
      const unsigned stream = notice.vcq_id == first.id ? 0 : 1;
      EXPECT_EQ(notice.edata, next[stream]);
      next[stream] += 2;
      overtakes += notice.edata < last ? 1 : 0;
      last = static_cast<unsigned>(notice.edata);
    }
    EXPECT_GT(overtakes, 5u);
    for (unsigned i = 0; i < count; i += 2) {
      utofu_mrq_notice notice;
      ASSERT_EQ(first.await_mrq(notice), UTOFU_SUCCESS);
      EXPECT_EQ(notice.edata, i);
    }
  });
}

TEST(Chaos, TellsTheTcqInTheOrderOfPostingAndSometimesLongBeforeTheDataArrives) {
  alone({{"MODE", "chaos"}}, [] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), target(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    auto& source = mine.memory.as<std::uint64_t>();
    const auto& word = target.memory.as<std::uint64_t>();
    unsigned early = 0;
    for (std::uint64_t i = 1; i <= 200; ++i) {
      source = i;
      ASSERT_EQ(
          utofu_put(mine.vcq, target.id, mine.stadd, target.stadd, 8, 0, tcq | local, nullptr),
          UTOFU_SUCCESS);
      void* cbdata = nullptr;
      ASSERT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);
      source = 0;  // ours again
      early += word == i ? 0 : 1;
      utofu_mrq_notice notice;
      ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
      ASSERT_EQ(word, i);
    }
    EXPECT_GT(early, 20u);
    for (std::uintptr_t i = 1; i <= 500; ++i) {
      ASSERT_EQ(utofu_put_piggyback8(mine.vcq, i % 3 == 0 ? mine.id : target.id, 0, 0, 8, 0, tcq,
                                     reinterpret_cast<void*>(i)),
                UTOFU_SUCCESS);
    }
    for (std::uintptr_t i = 1; i <= 500; ++i) {
      void* cbdata = nullptr;
      ASSERT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(cbdata), i);
    }
  });
}

/// Adds by ARMW to the other process's word.
void add_by_device(const lane& mine, board& all, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    ASSERT_EQ(utofu_armw8(mine.vcq, address_of(all, 1).id, UTOFU_ARMW_OP_ADD, 1,
                          address_of(all, 1).stadd, 0, local, nullptr),
              UTOFU_SUCCESS);
    utofu_mrq_notice notice;
    ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
    void* cbdata = nullptr;
    while (utofu_poll_tcq(mine.vcq, 0, &cbdata) == UTOFU_SUCCESS) {
    }
  }
}

/// Adds by the CPU until told to stop. How often.
std::uint64_t add_by_cpu(std::uint64_t& counter, const std::function<bool()>& stop) {
  std::uint64_t added = 0;
  const std::atomic_ref word(counter);
  while (!stop()) {
    word.fetch_add(1);
    if (++added % 64 == 0) sched_yield();
  }
  return added;
}

TEST(Chaos, AnArmwDoesNotRespectTheCpu) {
  // Two processes: one adds by ARMW, the other by its CPU. Additions are lost, if not in one go, in
  // which perhaps the two did not meet, then in another.
  run(2, {{"MODE", "chaos"}}, [](unsigned me, board& all) {
    const lane mine;
    publish(all, me, mine);
    all.meet(2);
    constexpr unsigned rounds = 3000;
    for (int go = 0; go < 100 && all.words[11] == 0; ++go) {
      if (me == 0) {
        add_by_device(mine, all, rounds);
        all.words[10] = 1;
      } else {
        auto& word = mine.memory.as<std::uint64_t>();
        const std::uint64_t added = add_by_cpu(word, [&] { return all.words[10] != 0; });
        if (word < added + rounds) all.words[11] = 1;
        word = all.words[10] = 0;
      }
      all.meet(2);
    }
    EXPECT_EQ(all.words[11], 1u);
  });
}

TEST(Engine, ServesAProgramThatDoesNotCall) {
  run(2, {{"MODE", "engine"}}, [](unsigned me, board& all) {
    const lane mine;
    publish(all, me, mine);
    all.meet(2);
    const std::atomic_ref word(mine.memory.as<std::uint64_t>());
    for (std::uint64_t round = 1; round <= 50; ++round) {
      if (round % 10 == 0) usleep(3000);  // the engine falls asleep
      const address to = address_of(all, 1 - me);
      ASSERT_EQ(utofu_put_piggyback8(mine.vcq, to.id, round, to.stadd, 8, 0, strong, nullptr),
                UTOFU_SUCCESS);
      while (word.load() < round) sched_yield();  // no call to the device
    }
    all.meet(2);
  });
}

TEST(Engine, ManyCqsAndThreadsLoseNothing) {
  alone({{"MODE", "engine"}}, [] {
    const lane target(5, UTOFU_VCQ_FLAG_EXCLUSIVE);
    for (int round = 0; round < 3; ++round) {
      std::vector<std::unique_ptr<lane>> lanes;
      for (utofu_tni_id_t tni = 0; tni < 5; ++tni) {
        lanes.push_back(std::make_unique<lane>(tni, UTOFU_VCQ_FLAG_EXCLUSIVE));
      }
      for (unsigned i = 0; i < 500; ++i) {
        for (const auto& from : lanes) {
          while (utofu_armw8(from->vcq, target.id, UTOFU_ARMW_OP_ADD, 1, target.stadd, 0, 0,
                             nullptr) == UTOFU_ERR_BUSY) {
            void* cbdata = nullptr;
            utofu_poll_tcq(from->vcq, 0, &cbdata);
          }
        }
      }
      lanes.clear();  // executes what is left
      ASSERT_EQ(target.memory.as<std::uint64_t>(), 2500u * static_cast<unsigned>(round + 1));
    }
  });
}

TEST(Strict, AStaddOfAnotherTniIsRefused) {
  alone({}, [] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), other(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    EXPECT_NE(mine.stadd, other.stadd);
    int marker = 0;
    EXPECT_EQ(utofu_put(mine.vcq, other.id, other.stadd, other.stadd, 8, 0, 0, &marker),
              UTOFU_SUCCESS);
    void* cbdata = nullptr;
    EXPECT_EQ(mine.await_tcq(&cbdata), UTOFU_ERR_TCQ_STADD);
  });
  alone({{"STRICT", "off"}}, [] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), other(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    EXPECT_EQ(mine.stadd, other.stadd);
    EXPECT_EQ(mine.stadd >> 40, 0x1000u) << "as was seen on the hardware";
  });
}

}  // namespace
