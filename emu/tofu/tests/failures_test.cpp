// SPDX-License-Identifier: BSD-3-Clause
// Peers that are not there, that die, and threads that break the rules.
#include <thread>

#include "lane.h"

using namespace nodes;

namespace {

/// The MRQ code of a put that asks for no notice: errors are shown all the same.
int put_code(const lane& mine, address to) {
  EXPECT_EQ(utofu_put_piggyback8(mine.vcq, to.id, 1, to.stadd, 8, 3, 0, nullptr), UTOFU_SUCCESS);
  utofu_mrq_notice notice{};
  const int code = utofu_poll_mrq(mine.vcq, 0, &notice);
  if (code == UTOFU_ERR_NOT_FOUND) return UTOFU_SUCCESS;
  EXPECT_EQ(notice.notice_type, UTOFU_MRQ_TYPE_LCL_PUT);
  EXPECT_EQ(notice.vcq_id, to.id);
  EXPECT_EQ(notice.edata, 3u);
  return code;
}

TEST(Failures, APutToAVcqThatDoesNotExistIsAPeerError) {
  alone({}, [] {
    const lane mine;
    std::array<std::uint8_t, 6> at{0, 0, 0, 1, 1, 1};
    utofu_vcq_id_t nobody = 0;
    ASSERT_EQ(utofu_construct_vcq_id(at.data(), 3, 2, 1, &nobody), UTOFU_SUCCESS);
    EXPECT_EQ(put_code(mine, {nobody, mine.stadd}), UTOFU_ERR_MRQ_PEER);
    EXPECT_EQ(utofu_put_piggyback8(mine.vcq, 0, 1, mine.stadd, 8, 0, 0, nullptr),
              UTOFU_ERR_INVALID_VCQ_ID);
  });
}

TEST(Failures, APutToAFreedVcqIsAPeerError) {
  alone({}, [] {
    const lane mine(0, UTOFU_VCQ_FLAG_EXCLUSIVE);
    address to{};
    {
      const lane other(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
      to = {other.id, other.stadd};
      EXPECT_EQ(put_code(mine, to), UTOFU_SUCCESS);
    }
    EXPECT_EQ(put_code(mine, to), UTOFU_ERR_MRQ_PEER);
    const lane again(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    EXPECT_EQ(again.id, to.id);
    EXPECT_EQ(put_code(mine, {again.id, again.stadd}), UTOFU_SUCCESS);
  });
}

class Deaths : public testing::TestWithParam<memory_kind> {};
INSTANTIATE_TEST_SUITE_P(Memory, Deaths,
                         testing::Values(memory_kind::memfd, memory_kind::private_pages),
                         [](const auto& one) {
                           return one.param == memory_kind::memfd ? "memfd" : "private";
                         });

TEST_P(Deaths, AKilledPeerIsAPeerErrorFromTheNextPutOn) {
  alone({}, [] {
    board& all = make_board();
    const lane mine;
    const pid_t peer = start([&] {
      setenv("SOFTTOFU_NODE", "1", 1);
      const lane theirs(0, 0, 65536, GetParam());
      publish(all, 1, theirs);
      all.words[10] = 1;
      for (;;) pause();
    });
    while (all.words[10] == 0) sched_yield();
    EXPECT_EQ(put_code(mine, address_of(all, 1)), UTOFU_SUCCESS);
    kill(peer, SIGKILL);
    EXPECT_EQ(outcome(peer), -SIGKILL);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(put_code(mine, address_of(all, 1)), UTOFU_ERR_MRQ_PEER);
  });
}

TEST(Failures, APutBeforeThePeerRegistersIsAnErrorAndAfterwardsWorks) {
  run(2, {}, [](unsigned me, board& all) {
    const lane mine;
    publish(all, me, mine);
    pages area(65536);
    address to{};
    all.meet(2);
    to.id = address_of(all, 1).id;
    ASSERT_EQ(utofu_query_stadd(to.id, 9, &to.stadd), UTOFU_SUCCESS);
    if (me == 0) {
      EXPECT_EQ(put_code(mine, to), UTOFU_ERR_MRQ_RMT_STADD);
    }
    all.meet(2);
    utofu_stadd_t stadd = 0;
    ASSERT_EQ(utofu_reg_mem_with_stag(mine.vcq, area.data(), 65536, 9, 0, &stadd), UTOFU_SUCCESS);
    all.meet(2);
    if (me == 0) {
      EXPECT_EQ(put_code(mine, to), UTOFU_SUCCESS);
    }
    all.meet(2);
  });
}

TEST(Threads, TwoInOneCqWithoutThreadSafeEndTheProgram) {
  const std::string job = fresh_job();
  EXPECT_EQ(outcome(start([&] {
              set_knobs(job, {});
              std::freopen("/dev/null", "w", stderr);
              // Two VCQs, but both on the shared CQ.
              const lane mine, other;
              const auto flood = [](const lane& on) {
                for (int i = 0; i < 100'000'000; ++i) {
                  utofu_nop(on.vcq, 0, nullptr);
                  void* cbdata = nullptr;
                  utofu_poll_tcq(on.vcq, 0, &cbdata);
                }
              };
              std::thread second(flood, std::cref(other));
              flood(mine);
              second.join();
            })),
            -SIGABRT);
  remove_machine(job);
}

TEST(Threads, ThreadSafeVcqsOfOneCqLoseNothing) {
  alone({}, [] {
    constexpr unsigned threads = 4, rounds = 2000;
    const lane target(1, UTOFU_VCQ_FLAG_EXCLUSIVE);
    const auto work = [&] {
      const lane mine(0, UTOFU_VCQ_FLAG_THREAD_SAFE);
      for (unsigned i = 0; i < rounds; ++i) {
        ASSERT_EQ(utofu_armw8(mine.vcq, target.id, UTOFU_ARMW_OP_ADD, 1, target.stadd, 0,
                              tcq | local, nullptr),
                  UTOFU_SUCCESS);
        void* cbdata = nullptr;
        ASSERT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);
        utofu_mrq_notice notice;
        ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
      }
    };
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; ++i) all.emplace_back(work);
    for (std::thread& one : all) one.join();
    EXPECT_EQ(target.memory.as<std::uint64_t>(), threads * rounds);
  });
}

TEST(Threads, ExclusiveVcqsNeedNoLock) {
  alone({}, [] {
    constexpr unsigned threads = 3, rounds = 5000;
    std::vector<std::unique_ptr<lane>> lanes;
    for (unsigned i = 0; i < threads; ++i) {
      lanes.push_back(std::make_unique<lane>(0, UTOFU_VCQ_FLAG_EXCLUSIVE));
    }
    const auto work = [&](unsigned me) {
      const lane &mine = *lanes[me], &next = *lanes[(me + 1) % threads];
      for (unsigned i = 1; i <= rounds; ++i) {
        ASSERT_EQ(
            utofu_put_piggyback8(mine.vcq, next.id, i, next.stadd, 8, 0, tcq | remote, nullptr),
            UTOFU_SUCCESS);
        void* cbdata = nullptr;
        ASSERT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);
        utofu_mrq_notice notice;
        ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
        ASSERT_GE(mine.memory.as<std::atomic<std::uint64_t>>().load(), i);
      }
    };
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i);
    for (std::thread& one : all) one.join();
  });
}

TEST(Threads, RegisteringDisturbsNobodyWhoPosts) {
  alone({}, [] {
    const lane mine;
    std::atomic<bool> stop = false;
    std::thread registrar([&] {
      pages area(65536);
      while (!stop.load()) {
        utofu_stadd_t stadd = 0;
        ASSERT_EQ(utofu_reg_mem(mine.vcq, area.data(), 65536, 0, &stadd), UTOFU_SUCCESS);
        ASSERT_EQ(utofu_dereg_mem(mine.vcq, stadd, 0), UTOFU_SUCCESS);
      }
    });
    for (int i = 0; i < 20000; ++i) {
      ASSERT_EQ(put_code(mine, {mine.id, mine.stadd}), UTOFU_SUCCESS);
      void* cbdata = nullptr;
      ASSERT_EQ(utofu_poll_tcq(mine.vcq, 0, &cbdata), UTOFU_ERR_NOT_FOUND);
    }
    stop.store(true);
    registrar.join();
  });
}

TEST(Threads, CreatingAndFreeingVcqsOfACqDisturbsNobodyWhoPosts) {
  alone({}, [] {
    const lane mine;
    std::atomic<bool> stop = false;
    std::thread creator([&] {
      while (!stop.load()) {
        utofu_vcq_hdl_t other = 0;
        ASSERT_EQ(utofu_create_vcq(0, 0, &other), UTOFU_SUCCESS);
        ASSERT_EQ(utofu_free_vcq(other), UTOFU_SUCCESS);
      }
    });
    for (int i = 0; i < 20000; ++i) {
      ASSERT_EQ(put_code(mine, {mine.id, mine.stadd}), UTOFU_SUCCESS);
      void* cbdata = nullptr;
      ASSERT_EQ(utofu_poll_tcq(mine.vcq, 0, &cbdata), UTOFU_ERR_NOT_FOUND);
    }
    stop.store(true);
    creator.join();
  });
}

TEST(Processes, FetchAndAddFromAllOfThemSumsExactly) {
  for (const char* scope : {"cq", "tni", "node"}) {
    run(3, {{"ARMW_SCOPE", scope}}, [](unsigned me, board& all) {
      const lane mine;
      publish(all, me, mine);
      all.meet(3);
      const address to = address_of(all, 0);
      constexpr unsigned rounds = 3000;
      for (unsigned i = 0; i < rounds; ++i) {
        ASSERT_EQ(utofu_armw8(mine.vcq, to.id, UTOFU_ARMW_OP_ADD, 1, to.stadd, 0, tcq, nullptr),
                  UTOFU_SUCCESS);
        void* cbdata = nullptr;
        ASSERT_EQ(mine.await_tcq(&cbdata), UTOFU_SUCCESS);
        utofu_mrq_notice notice;
        ASSERT_EQ(utofu_poll_mrq(mine.vcq, 0, &notice), UTOFU_ERR_NOT_FOUND);
      }
      all.meet(3);
      if (me == 0) {
        EXPECT_EQ(mine.memory.as<std::uint64_t>(), 3u * rounds);
      }
      all.meet(3);
    });
  }
}

TEST(Processes, AHolderOfTheArithmeticLockMayBeKilled) {
  // Killed while it does nothing but ARMWs; some of them inside the lock. It does no more of them
  // than their notices have been taken, and some: the receive queue holds only so many.
  constexpr unsigned under_way = 500;
  run(1, {}, [](unsigned, board& all) {
    const lane mine;
    publish(all, 0, mine);
    std::atomic<std::uint64_t>& taken = all.words[10];
    for (unsigned round = 0; round < 20; ++round) {
      taken = 0;
      const pid_t other = start([&] {
        setenv("SOFTTOFU_NODE", "1", 1);
        const lane theirs;
        const address to = address_of(all, 0);
        for (std::uint64_t done = 0;;) {
          while (done - taken >= under_way) sched_yield();
          if (utofu_armw8(theirs.vcq, to.id, UTOFU_ARMW_OP_ADD, 1, to.stadd, 0, remote, nullptr) ==
              UTOFU_SUCCESS) {
            ++done;
          }
          void* cbdata = nullptr;
          utofu_poll_tcq(theirs.vcq, 0, &cbdata);
          utofu_mrq_notice notice;
          utofu_poll_mrq(theirs.vcq, 0, &notice);
        }
      });
      utofu_mrq_notice notice{};
      for (; taken <= 100 * round; ++taken) ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
      kill(other, SIGKILL);
      EXPECT_EQ(outcome(other), -SIGKILL);
      // Its last notice may be unfinished; ours behind it must come out all the same.
      ASSERT_EQ(
          utofu_armw8(mine.vcq, mine.id, UTOFU_ARMW_OP_ADD, 1, mine.stadd, 200, local, nullptr),
          UTOFU_SUCCESS);
      while (notice.edata != 200) ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
    }
  });
}

}  // namespace
