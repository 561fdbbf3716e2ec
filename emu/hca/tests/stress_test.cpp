// SPDX-License-Identifier: BSD-3-Clause
// Several threads, several queue pairs, one shared receive queue and one completion queue, in each
// mode: every message arrives once, in the order of its queue pair, and unharmed.
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include "endpoint.h"

namespace {

using conformance::endpoint;
using conformance::plan;
using conformance::side;
using conformance::verdict;

constexpr std::size_t threads = 3;
constexpr std::uint32_t messages = 2000;  ///< of each thread
constexpr std::size_t slot = 64;          ///< bytes of a message
constexpr std::size_t receive_slots = 64;

struct message {
  std::uint64_t number;
  std::uint64_t copies[7];  ///< of it
};

/// A queue pair of each thread; all complete into the CQ and receive from the SRQ of `e`.
class pairs {
 public:
  pairs(side& me, endpoint& e, std::uint32_t depth) : me_(me), e_(e) {
    for (ibv_qp*& one : all) {
      ibv_qp_init_attr init{};
      init.send_cq = init.recv_cq = e.cq();
      init.srq = e.srq();
      init.cap = {depth, 1, 1, 1, 64};
      init.qp_type = IBV_QPT_RC;
      one = ibv_create_qp(e.pd(), &init);
      me.require(one != nullptr, "ibv_create_qp");
    }
    connect();
  }
  pairs(const pairs&) = delete;
  pairs& operator=(const pairs&) = delete;
  ~pairs() {
    for (ibv_qp* one : all) me_.expect(ibv_destroy_qp(one) == 0, "ibv_destroy_qp");
  }
  std::array<ibv_qp*, threads> all{};

 private:
  void connect() {
    for (ibv_qp* one : all) {
      conformance::card mine = e_.mine();
      mine.qpn = one->qp_num;
      const conformance::card theirs = me_.swap(mine);
      ibv_qp_attr a{};
      a.qp_state = IBV_QPS_INIT;
      a.port_num = 1;
      int rc = ibv_modify_qp(one, &a,
                             IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
      a.qp_state = IBV_QPS_RTR;
      a.path_mtu = IBV_MTU_1024;
      a.dest_qp_num = theirs.qpn;
      a.max_dest_rd_atomic = 1;
      a.ah_attr = e_.route_to(theirs);
      rc |= ibv_modify_qp(one, &a,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                              IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
      a.qp_state = IBV_QPS_RTS;
      a.timeout = 14;
      a.retry_cnt = 7;
      a.rnr_retry = 7;
      a.max_rd_atomic = 1;
      rc |= ibv_modify_qp(one, &a,
                          IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                              IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
      me_.require(rc == 0, "connect");
    }
    me_.meet();
  }

  side& me_;
  endpoint& e_;
};

/// Sends all messages of a thread, every eighth signalled.
void send_all(ibv_qp* qp, std::atomic<int>& problems) {
  for (std::uint64_t n = 0; n < messages; ++n) {
    message m{n, {n, n, n, n, n, n, n}};
    ibv_sge sge{reinterpret_cast<std::uint64_t>(&m), sizeof m, 0};
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_INLINE;
    if (n % 8 == 7 || n + 1 == messages) wr.send_flags |= IBV_SEND_SIGNALED;
    wr.wr_id = ~std::uint64_t{0};
    ibv_send_wr* bad = nullptr;
    int rc = 0;
    while ((rc = ibv_post_send(qp, &wr, &bad)) == ENOMEM) sched_yield();
    if (rc != 0) ++problems;
  }
}

/// Whether the message is the next one of its queue pair.
bool is_right(const message& m, std::uint64_t& next) {
  bool right = m.number == next++;
  for (const std::uint64_t copy : m.copies) right = right && copy == m.number;
  return right;
}

/// Polls until all of the peer's messages and all of our own completions have come.
void receive_all(endpoint& e, std::atomic<int>& problems) {
  constexpr std::size_t signalled = (messages + 7) / 8 * threads;
  std::map<std::uint32_t, std::uint64_t> next;
  for (std::size_t left = messages * threads + signalled; left > 0;) {
    std::array<ibv_wc, 16> some;
    const int count = ibv_poll_cq(e.cq(), 16, some.data());
    if (count < 0) ++problems;
    if (count < 0) return;
    if (count == 0) sched_yield();
    for (int i = 0; i < count; ++i, --left) {
      const ibv_wc& wc = some[static_cast<std::size_t>(i)];
      if (wc.status != IBV_WC_SUCCESS) ++problems;
      if (wc.wr_id >= receive_slots) continue;  // a send of ours
      const auto& m = *reinterpret_cast<const message*>(e.data() + wc.wr_id * slot);
      if (!is_right(m, next[wc.qp_num])) ++problems;
      e.post_receive(wc.wr_id * slot, slot, wc.wr_id);
    }
  }
}

void exchange(side& me) {
  plan p;
  p.srq = true;
  p.depth = receive_slots;
  p.cq_depth = 4096;
  endpoint e(me, p);
  for (std::size_t i = 0; i < receive_slots; ++i) e.post_receive(i * slot, slot, i);
  pairs all(me, e, 16);
  std::atomic<int> problems{0};
  std::vector<std::thread> senders;
  for (ibv_qp* one : all.all) senders.emplace_back([one, &problems] { send_all(one, problems); });
  receive_all(e, problems);
  for (std::thread& one : senders) one.join();
  me.expect(problems == 0, "%d messages or completions are wrong", problems.load());
  me.meet();
}

class SoftHcaStress : public testing::TestWithParam<const char*> {};

TEST_P(SoftHcaStress, EveryMessageArrivesOnceInOrderAndUnharmed) {
  setenv("SOFTHCA_JOB", ("stress." + std::to_string(getpid())).c_str(), 1);
  setenv("SOFTHCA_MODE", GetParam(), 1);
  conformance::settings how;
  how.seconds = 100;
  EXPECT_EQ(conformance::run({"", exchange}, how), verdict::ok);
}

INSTANTIATE_TEST_SUITE_P(Modes, SoftHcaStress, testing::Values("inline", "engine", "chaos"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
