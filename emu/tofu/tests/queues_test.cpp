// SPDX-License-Identifier: BSD-3-Clause
// The queues of a CQ: what fills them, what frees them, who sees which entry.
#include "lane.h"

using namespace nodes;

namespace {

int nop(const lane& mine, unsigned long flags = 0, void* cbdata = nullptr) {
  return utofu_nop(mine.vcq, flags, cbdata);
}
int put(const lane& from, const lane& to, unsigned long flags, std::uint64_t edata = 0) {
  return utofu_put_piggyback8(from.vcq, to.id, edata, to.stadd, 8, edata, flags, nullptr);
}
int poll_tcq(const lane& mine) {
  void* cbdata = nullptr;
  return utofu_poll_tcq(mine.vcq, 0, &cbdata);
}
int poll_mrq(const lane& mine) {
  utofu_mrq_notice notice;
  return utofu_poll_mrq(mine.vcq, 0, &notice);
}

class Queues : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, Queues, testing::Values("inline", "lazy", "engine", "chaos"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Queues, AFullToqIsBusyUntilTheTcqIsPolled) {
  alone({{"MODE", GetParam()}, {"TOQ", "8"}}, [] {
    const lane mine;
    for (int i = 0; i < 8; ++i) ASSERT_EQ(nop(mine, i == 3 ? tcq : 0), UTOFU_SUCCESS);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(nop(mine), UTOFU_ERR_BUSY);
    void* cbdata = nullptr;
    EXPECT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);  // the fourth, and with it the three before
    for (int i = 0; i < 4; ++i) ASSERT_EQ(nop(mine), UTOFU_SUCCESS);
    EXPECT_EQ(nop(mine), UTOFU_ERR_BUSY);
    while (nop(mine) == UTOFU_ERR_BUSY) EXPECT_EQ(poll_tcq(mine), UTOFU_ERR_NOT_FOUND);
  });
}

TEST_P(Queues, LongPiggybacksAndWideCswapsTakeTwoSlots) {
  alone({{"MODE", GetParam()}, {"TOQ", "4"}}, [] {
    const lane mine;
    std::array<char, 32> data{};
    ASSERT_EQ(nop(mine), UTOFU_SUCCESS);
    ASSERT_EQ(utofu_put_piggyback(mine.vcq, mine.id, data.data(), mine.stadd, 9, 0, 0, nullptr),
              UTOFU_SUCCESS);
    EXPECT_EQ(utofu_cswap8(mine.vcq, mine.id, 0, 1, mine.stadd, 0, 0, nullptr), UTOFU_ERR_BUSY);
    EXPECT_EQ(utofu_cswap4(mine.vcq, mine.id, 0, 1, mine.stadd, 0, 0, nullptr), UTOFU_SUCCESS);
    EXPECT_EQ(nop(mine), UTOFU_ERR_BUSY);
  });
}

TEST_P(Queues, ABlockIsPostedWholeOrNotAtAll) {
  alone({{"MODE", GetParam()}, {"TOQ", "8"}}, [] {
    const lane mine;
    std::array<std::byte, 96> block{};
    for (std::size_t i = 0; i < 3; ++i) {
      std::size_t size = 0;
      ASSERT_EQ(utofu_prepare_armw8(mine.vcq, mine.id, UTOFU_ARMW_OP_ADD, 1, mine.stadd, 0, 0,
                                    block.data() + 32 * i, &size),
                UTOFU_SUCCESS);
    }
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(utofu_post_toq(mine.vcq, block.data(), block.size(), nullptr), UTOFU_SUCCESS);
    }
    EXPECT_EQ(utofu_post_toq(mine.vcq, block.data(), block.size(), nullptr), UTOFU_ERR_BUSY);
    const std::atomic_ref word(mine.memory.as<std::uint64_t>());
    while (poll_tcq(mine) == UTOFU_ERR_NOT_FOUND && word.load() < 6) {
    }
    EXPECT_EQ(word.load(), 6u);
    EXPECT_EQ(utofu_post_toq(mine.vcq, block.data(), 40, nullptr), UTOFU_ERR_INVALID_SIZE);
    block[64] = block[65] = block[66] = std::byte{0xff};
    EXPECT_EQ(utofu_post_toq(mine.vcq, block.data(), block.size(), nullptr),
              UTOFU_ERR_INVALID_DESC);
    EXPECT_EQ(word.load(), 6u) << "nothing of it";
  });
}

TEST_P(Queues, EachVcqOfACqSeesItsOwnEntries) {
  alone({{"MODE", GetParam()}}, [] {
    const lane first, second;
    int a = 0, b = 0;
    ASSERT_EQ(nop(first, tcq, &a), UTOFU_SUCCESS);
    ASSERT_EQ(nop(second, tcq, &b), UTOFU_SUCCESS);
    void* cbdata = nullptr;
    EXPECT_EQ(second.await_tcq(&cbdata), UTOFU_SUCCESS);
    EXPECT_EQ(cbdata, &b);
    EXPECT_EQ(first.await_tcq(&cbdata), UTOFU_SUCCESS);
    EXPECT_EQ(cbdata, &a);
    ASSERT_EQ(put(first, second, local | remote, 1), UTOFU_SUCCESS);
    utofu_mrq_notice notice;
    EXPECT_EQ(second.await_mrq(notice), UTOFU_SUCCESS);
    EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_RMT_PUT);
    EXPECT_EQ(notice.vcq_id, first.id);
    EXPECT_EQ(poll_mrq(second), UTOFU_ERR_NOT_FOUND);
    EXPECT_EQ(first.await_mrq(notice), UTOFU_SUCCESS);
    EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_LCL_PUT);
    EXPECT_EQ(notice.vcq_id, second.id);
  });
}

TEST(Queues, UnreadEntriesAreCounted) {
  alone({}, [] {
    const lane mine, other;
    std::size_t count = 99;
    for (int i = 0; i < 3; ++i) ASSERT_EQ(put(mine, mine, tcq | local | remote), UTOFU_SUCCESS);
    ASSERT_EQ(put(mine, other, 0), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_query_num_unread_tcq(mine.vcq, &count), UTOFU_SUCCESS);
    EXPECT_EQ(count, 3u);
    EXPECT_EQ(utofu_query_num_unread_mrq(mine.vcq, &count), UTOFU_SUCCESS);
    EXPECT_EQ(count, 6u);
    EXPECT_EQ(utofu_query_num_unread_mrq(other.vcq, &count), UTOFU_SUCCESS);
    EXPECT_EQ(count, 0u);
    EXPECT_EQ(poll_mrq(mine), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_query_num_unread_mrq(mine.vcq, &count), UTOFU_SUCCESS);
    EXPECT_EQ(count, 5u);
  });
}

TEST(Queues, FlagsChooseExactlyTheNoticesThatAreShown) {
  alone({}, [] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), other(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    for (const unsigned long flags : {0ul, tcq, local, remote, tcq | local, tcq | remote,
                                      local | remote, tcq | local | remote}) {
      ASSERT_EQ(put(mine, other, flags), UTOFU_SUCCESS);
      EXPECT_EQ(poll_tcq(mine) == UTOFU_SUCCESS, (flags & tcq) != 0);
      EXPECT_EQ(poll_mrq(mine) == UTOFU_SUCCESS, (flags & local) != 0);
      EXPECT_EQ(poll_mrq(other) == UTOFU_SUCCESS, (flags & remote) != 0);
      EXPECT_EQ(poll_tcq(mine), UTOFU_ERR_NOT_FOUND);
      EXPECT_EQ(poll_mrq(mine), UTOFU_ERR_NOT_FOUND);
      EXPECT_EQ(poll_mrq(other), UTOFU_ERR_NOT_FOUND);
    }
  });
}

TEST(Queues, AnOverflowingMrqKillsItsCqAndLaterPutsDoNotLand) {
  alone({{"MRQ", "4"}}, [] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), other(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    for (int i = 1; i <= 4; ++i) ASSERT_EQ(put(mine, other, remote, 1), UTOFU_SUCCESS);
    EXPECT_EQ(poll_mrq(mine), UTOFU_ERR_NOT_FOUND);
    ASSERT_EQ(put(mine, other, remote, 2), UTOFU_SUCCESS);
    EXPECT_EQ(poll_mrq(mine), UTOFU_ERR_NOT_FOUND);
    EXPECT_EQ(poll_mrq(other), UTOFU_ERR_FATAL);
    EXPECT_EQ(nop(other), UTOFU_ERR_FATAL);
    ASSERT_EQ(put(mine, other, local, 3), UTOFU_SUCCESS);
    EXPECT_EQ(poll_mrq(mine), UTOFU_SUCCESS) << "the initiator does not notice";
    EXPECT_EQ(other.memory.as<std::uint64_t>(), 2u);
  });
}

TEST(Queues, CompletionsNobodyAskedForFillTheMrqUnlessSwitchedOff) {
  for (const char* hidden : {"on", "off"}) {
    alone({{"MRQ", "4"}, {"HIDDEN", hidden}}, [&] {
      const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), other(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
      for (int i = 0; i < 5; ++i) ASSERT_EQ(put(mine, other, 0), UTOFU_SUCCESS);
      EXPECT_EQ(poll_mrq(mine),
                *hidden == 'o' && hidden[1] == 'n' ? UTOFU_ERR_FATAL : UTOFU_ERR_NOT_FOUND);
    });
  }
}

TEST(Queues, TheMrqGoesRoundManyTimes) {
  alone({{"MRQ", "4"}, {"TOQ", "4"}}, [] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE), other(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    for (unsigned i = 0; i < 1000; ++i) {
      ASSERT_EQ(put(mine, other, tcq | local | remote, i % 256), UTOFU_SUCCESS);
      utofu_mrq_notice notice;
      ASSERT_EQ(other.await_mrq(notice), UTOFU_SUCCESS);
      ASSERT_EQ(notice.edata, i % 256);
      ASSERT_EQ(poll_mrq(mine), UTOFU_SUCCESS);
      ASSERT_EQ(poll_tcq(mine), UTOFU_SUCCESS);
    }
  });
}

TEST(Lazy, NothingHappensInsideThePostAndABatchAtEachLaterCall) {
  alone({{"MODE", "lazy"}, {"BATCH", "2"}}, [] {
    const lane mine;
    const auto& word = mine.memory.as<std::uint64_t>();
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(utofu_armw8(mine.vcq, mine.id, UTOFU_ARMW_OP_ADD, 1, mine.stadd, 0, 0, nullptr),
                UTOFU_SUCCESS);
      EXPECT_EQ(word, static_cast<unsigned>(i)) << "only what was posted before";
    }
    EXPECT_EQ(poll_mrq(mine), UTOFU_ERR_NOT_FOUND);
    EXPECT_EQ(word, 5u);
  });
}

TEST(Lazy, FreeingAVcqExecutesWhatItPosted) {
  alone({{"MODE", "lazy"}}, [] {
    const lane target(0, UTOFU_VCQ_FLAG_EXCLUSIVE);
    {
      const lane mine(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
      for (unsigned i = 1; i <= 20; ++i) ASSERT_EQ(put(mine, target, 0, i), UTOFU_SUCCESS);
    }
    EXPECT_EQ(target.memory.as<std::uint64_t>(), 20u);
  });
}

TEST(Lazy, LeavingTheMachineExecutesWhatWasPosted) {
  run(2, {{"MODE", "lazy"}}, [](unsigned me, board& all) {
    static const lane* mine = new lane;  // never freed: the process just ends
    publish(all, me, *mine);
    all.meet(2);
    const address to = address_of(all, 1);
    if (me == 0) {
      ASSERT_EQ(utofu_put_piggyback8(mine->vcq, to.id, 8, to.stadd, 8, 0, remote, nullptr),
                UTOFU_SUCCESS);
      return;
    }
    utofu_mrq_notice notice;
    EXPECT_EQ(mine->await_mrq(notice), UTOFU_SUCCESS);
    EXPECT_EQ(mine->memory.as<std::uint64_t>(), 8u);
  });
}

}  // namespace
