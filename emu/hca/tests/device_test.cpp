// SPDX-License-Identifier: BSD-3-Clause
// What only the software device has: counts, cables to pull, checks that hardware lacks. Two
// processes each, as in the conformance program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>

#include "endpoint.h"
#include "softhca.h"

namespace {

using conformance::card;
using conformance::endpoint;
using conformance::plan;
using conformance::side;
using conformance::verdict;

struct knob {
  const char* name;
  const char* value;
};

/// Runs both sides on a machine of their own.
verdict run(const std::function<void(side&)>& body, std::initializer_list<knob> knobs = {},
            int second_ends_by = 0) {
  static int jobs = 0;
  const std::string job = "test." + std::to_string(getpid()) + "." + std::to_string(jobs++);
  setenv("SOFTHCA_JOB", job.c_str(), 1);
  for (const knob& k : knobs) setenv(k.name, k.value, 1);
  const verdict v = conformance::run({"", body, second_ends_by}, {});
  for (const knob& k : knobs) unsetenv(k.name);
  return v;
}

ibv_event_type next_async(endpoint& e) {
  ibv_async_event event{};
  if (ibv_get_async_event(e.device(), &event) != 0) return IBV_EVENT_DEVICE_FATAL;
  ibv_ack_async_event(&event);
  return event.event_type;
}

TEST(SoftHca, AListRingsTheDoorbellOnceHoweverLongItIs) {
  EXPECT_EQ(run([](side& me) {
              endpoint e(me);
              e.connect();
              ibv_sge from = e.piece(0, 8);
              std::vector<ibv_send_wr> list(16, e.request(IBV_WR_RDMA_WRITE, from, 0));
              for (std::size_t i = 0; i + 1 < list.size(); ++i) {
                list[i].next = &list[i + 1];
                list[i].send_flags = IBV_SEND_INLINE;
              }
              me.require(e.post(list[0]) == 0, "ibv_post_send");
              e.wait();
              softhca_counters counts{};
              softhca_read_counters(e.device(), &counts);
              me.expect(counts.doorbells == 1 && counts.work_requests == 16, "%lu doorbells, %lu",
                        counts.doorbells, counts.work_requests);
              me.expect(counts.signalled == 1 && counts.inline_bytes == 15 * 8, "%lu, %lu",
                        counts.signalled, counts.inline_bytes);
              me.meet();
            }),
            verdict::ok);
}

TEST(SoftHca, APulledCableIsToldAndHoldsUpWhatIsSentUntilItIsBack) {
  EXPECT_EQ(run([](side& me) {
              plan p;
              p.timeout = 0;  // for ever
              endpoint e(me, p);
              e.connect();
              if (!me.is_first()) softhca_set_port(e.device(), 1, 0);
              me.expect(next_async(e) == IBV_EVENT_PORT_ERR, "the port is down");
              ibv_port_attr port{};
              ibv_query_port(e.device(), 1, &port);
              me.expect(port.state == IBV_PORT_DOWN, "state %d", port.state);
              me.meet();
              if (me.is_first()) {
                ibv_sge from = e.piece(0, 8);
                ibv_send_wr wr = e.request(IBV_WR_RDMA_WRITE, from, 0);
                me.require(e.post(wr) == 0, "ibv_post_send");
                me.expect(e.is_quiet(), "nothing goes through");
                softhca_set_port(e.device(), 1, 1);
                me.expect(e.wait().status == IBV_WC_SUCCESS, "it goes on");
              }
              me.expect(next_async(e) == IBV_EVENT_PORT_ACTIVE, "the port is up");
              me.meet();
            }),
            verdict::ok);
}

TEST(SoftHca, APulledCableEndsRequestsWhoseRetriesAreCounted) {
  EXPECT_EQ(run([](side& me) {
              plan p;
              p.timeout = 8;
              endpoint e(me, p);
              e.connect();
              if (me.is_first()) {
                softhca_set_port(e.device(), 1, 0);
                ibv_sge from = e.piece(0, 8);
                const auto status = e.carry_out(e.request(IBV_WR_RDMA_WRITE, from, 0));
                me.expect(status == IBV_WC_RETRY_EXC_ERR, "status %d", status);
              }
              me.meet();
            }),
            verdict::ok);
}

TEST(SoftHca, AQueuePairThatIsGoneIsAskedForItsRetriesBeforeRequestsEnd) {
  EXPECT_EQ(run([](side& me) {
              plan p;
              p.timeout = 15;  // an eighth of a second and more, with its retry
              endpoint e(me, p);
              std::optional<endpoint> left(std::in_place, me, p);
              const card theirs = me.swap(left->mine());
              me.require(e.to_rtr(theirs) == 0 && e.to_rts() == 0, "connect");
              me.meet();
              left.reset();
              me.meet();
              ibv_sge from = e.piece(0, 8);
              ibv_send_wr wr = e.request(IBV_WR_RDMA_WRITE, from, 0);
              me.require(e.post(wr) == 0, "ibv_post_send");
              ibv_wc early{};
              me.expect(ibv_poll_cq(e.cq(), 1, &early) == 0, "nobody can know yet");
              me.expect(e.wait().status == IBV_WC_RETRY_EXC_ERR, "it ends");
              me.meet();
            }),
            verdict::ok);
}

TEST(SoftHca, AnOverrunCompletionQueueSaysSoAndBreaksItsQueuePair) {
  EXPECT_EQ(run([](side& me) {
              plan p;
              p.cq_depth = 4;
              endpoint e(me, p);
              e.connect();
              if (me.is_first()) {
                ibv_sge from = e.piece(0, 8);
                for (int i = 0; i < 5; ++i) {
                  ibv_send_wr wr = e.request(IBV_WR_RDMA_WRITE, from, 0);
                  me.require(e.post(wr) == 0, "ibv_post_send");
                }
                me.expect(next_async(e) == IBV_EVENT_CQ_ERR, "the overrun is told");
                me.expect(e.state() == IBV_QPS_ERR, "state %d", e.state());
                ibv_wc wc[8];
                me.expect(ibv_poll_cq(e.cq(), 8, wc) == 4, "what fitted can be read");
                me.expect(ibv_poll_cq(e.cq(), 8, wc) < 0, "then polling fails");
              }
              me.meet();
            }),
            verdict::ok);
}

TEST(SoftHca, KeysForTheNeighboursDoNotOpenHere) {
  EXPECT_EQ(run([](side& me) {
              endpoint e(me);
              e.connect();
              ibv_sge from = e.piece(0, 8);
              ibv_send_wr wr = e.request(IBV_WR_RDMA_WRITE, from, 0);
              const std::uint32_t their_lkey = me.swap(e.mr()->lkey);
              wr.wr.rdma.rkey = their_lkey;
              if (me.is_first())
                me.expect(e.carry_out(wr) == IBV_WC_REM_ACCESS_ERR, "an lkey is no rkey");
              me.meet();
            }),
            verdict::ok);
}

TEST(SoftHca, TwoThreadsInOneThreadDomainEndTheProgram) {
  const auto body = [](side& me) {
    endpoint e(me);
    e.connect();
    if (me.is_first()) return;
    ibv_td_init_attr none{};
    ibv_parent_domain_init_attr how{};
    how.pd = e.pd();
    how.td = ibv_alloc_td(e.device(), &none);
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = e.cq();
    init.cap = {1024, 1, 1, 1, 1024};
    init.qp_type = IBV_QPT_RC;
    ibv_qp* const qp = ibv_create_qp(ibv_alloc_parent_domain(e.device(), &how), &init);
    const auto post = [&] {
      ibv_sge sge = e.piece(0, 8);
      std::vector<ibv_send_wr> list(1000, e.request(IBV_WR_SEND, sge));
      ibv_send_wr* bad = nullptr;
      for (;;) ibv_post_send(qp, list.data(), &bad);
    };
    std::thread other(post);
    post();
  };
  EXPECT_EQ(run(body, {}, SIGABRT), verdict::ok);
}

TEST(SoftHca, ThreadDomainsRunOutAsDoorbellPagesDo) {
  EXPECT_EQ(run(
                [](side& me) {
                  endpoint e(me);
                  ibv_td_init_attr none{};
                  ibv_td* const one = ibv_alloc_td(e.device(), &none);
                  me.expect(one != nullptr, "the first");
                  me.expect(ibv_alloc_td(e.device(), &none) == nullptr && errno == ENOMEM,
                            "there is no second");
                  me.expect(ibv_dealloc_td(one) == 0, "ibv_dealloc_td");
                  ibv_td* const again = ibv_alloc_td(e.device(), &none);
                  me.expect(again != nullptr, "one that was freed can be had again");
                  ibv_dealloc_td(again);
                },
                {{"SOFTHCA_THREAD_DOMAINS", "1"}}),
            verdict::ok);
}

TEST(SoftHca, AWrongAddressReachesNobody) {
  EXPECT_EQ(run([](side& me) {
              plan p;
              p.timeout = 8;
              endpoint e(me, p);
              conformance::card theirs = me.swap(e.mine());
              theirs.lid = static_cast<std::uint16_t>(theirs.lid + 1);
              me.require(e.to_rtr(theirs) == 0 && e.to_rts() == 0, "connect");
              me.meet();
              ibv_sge from = e.piece(0, 8);
              const auto status = e.carry_out(e.request(IBV_WR_RDMA_WRITE, from, 0));
              me.expect(status == IBV_WC_RETRY_EXC_ERR, "status %d", status);
              me.meet();
            }),
            verdict::ok);
}

TEST(SoftHca, DevicesAndPortsAreAsManyAsAskedFor) {
  EXPECT_EQ(run(
                [](side& me) {
                  int count = 0;
                  ibv_device** const all = ibv_get_device_list(&count);
                  me.require(count == 3, "%d devices", count);
                  ibv_context* const one = ibv_open_device(all[2]);
                  ibv_device_attr about{};
                  ibv_query_device(one, &about);
                  me.expect(about.phys_port_cnt == 2, "%u ports", about.phys_port_cnt);
                  ibv_port_attr first{}, second{};
                  ibv_query_port(one, 1, &first);
                  ibv_query_port(one, 2, &second);
                  me.expect(first.lid != second.lid, "LIDs of their own");
                  ibv_close_device(one);
                  ibv_free_device_list(all);
                },
                {{"SOFTHCA_DEVICES", "3"}, {"SOFTHCA_PORTS", "2"}}),
            verdict::ok);
}

/// In chaos a write may be complete before it is seen, but not for ever, and not past a later send.
TEST(SoftHca, LateWritesAreSeenEvenIfNothingFollows) {
  EXPECT_EQ(run(
                [](side& me) {
                  endpoint e(me);
                  e.connect();
                  for (std::uint64_t i = 1; i <= 50; ++i) {
                    if (me.is_first()) {
                      e.words()[0] = i;
                      ibv_sge from = e.piece(0, 8);
                      me.require(
                          e.carry_out(e.request(IBV_WR_RDMA_WRITE, from, 64)) == IBV_WC_SUCCESS,
                          "write %lu", i);
                    } else {
                      const std::atomic_ref word(e.words()[8]);
                      while (word.load() != i) sched_yield();
                    }
                    me.meet();
                  }
                },
                {{"SOFTHCA_MODE", "chaos"}, {"SOFTHCA_SEED", "3"}}),
            verdict::ok);
}

}  // namespace
