// SPDX-License-Identifier: BSD-3-Clause
// errors.cpp - what goes wrong, who hears of it, and what becomes of the rest.
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "endpoint.h"

namespace conformance {

namespace {

/// A bad request ends with `wanted`, and the one behind it is flushed.
void expect_end(side& me, endpoint& e, ibv_send_wr wr, ibv_wc_status wanted) {
  ibv_sge none = e.piece(0, 8);
  ibv_send_wr behind = e.request(IBV_WR_RDMA_WRITE, none, 0);
  behind.send_flags = 0;
  behind.wr_id = 2;
  wr.wr_id = 1;
  wr.next = &behind;
  me.require(e.post(wr) == 0, "ibv_post_send");
  const ibv_wc first = e.wait();
  me.expect(first.wr_id == 1 && first.status == wanted, "status %d instead of %d", first.status,
            wanted);
  const ibv_wc second = e.wait();
  me.expect(second.wr_id == 2 && second.status == IBV_WC_WR_FLUSH_ERR,
            "the unsignalled one behind it has status %d", second.status);
  me.expect(e.state() == IBV_QPS_ERR, "the queue pair is in state %d", e.state());
}

void bad_rkey(side& me) {
  endpoint e(me);
  if (!me.is_first()) e.post_receive(0, 64, 9);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    ibv_send_wr wr = e.request(IBV_WR_RDMA_WRITE, from, 0);
    wr.wr.rdma.rkey ^= 0x100;
    expect_end(me, e, wr, IBV_WC_REM_ACCESS_ERR);
  }
  me.meet();
  if (!me.is_first()) {
    const ibv_wc wc = e.wait();
    me.expect(wc.wr_id == 9 && wc.status == IBV_WC_WR_FLUSH_ERR, "its receive is flushed: %d",
              wc.status);
  }
  me.meet();
}

void beyond_the_region(side& me) {
  endpoint e(me);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    expect_end(me, e, e.request(IBV_WR_RDMA_WRITE, from, buffer_bytes - 7), IBV_WC_REM_ACCESS_ERR);
  }
  me.meet();
}

void no_right_to_write(side& me) {
  plan p;
  p.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
  endpoint e(me, p);
  e.connect();
  ibv_sge piece = e.piece(0, 8);
  if (me.is_first()) {
    me.expect(e.carry_out(e.request(IBV_WR_RDMA_READ, piece, 0)) == IBV_WC_SUCCESS, "may read");
    expect_end(me, e, e.request(IBV_WR_RDMA_WRITE, piece, 0), IBV_WC_REM_ACCESS_ERR);
  }
  me.meet();
}

void queue_pair_without_the_right(side& me) {
  plan p;
  p.qp_access = IBV_ACCESS_REMOTE_READ;
  endpoint e(me, p);
  e.connect();
  ibv_sge piece = e.piece(0, 8);
  if (me.is_first())
    expect_end(me, e, e.request(IBV_WR_RDMA_WRITE, piece, 0), IBV_WC_REM_ACCESS_ERR);
  me.meet();
}

void bad_lkey(side& me) {
  endpoint e(me);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    from.lkey ^= 0x100;
    expect_end(me, e, e.request(IBV_WR_RDMA_WRITE, from, 0), IBV_WC_LOC_PROT_ERR);
  }
  me.meet();
}

void too_long_for_the_receive(side& me) {
  endpoint e(me);
  if (!me.is_first()) e.post_receive(0, 16, 3);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 17);
    expect_end(me, e, e.request(IBV_WR_SEND, from), IBV_WC_REM_INV_REQ_ERR);
  } else {
    const ibv_wc wc = e.wait();
    me.expect(wc.wr_id == 3 && wc.status == IBV_WC_LOC_LEN_ERR, "status %d", wc.status);
  }
  me.meet();
}

void misaligned_atomic(side& me) {
  endpoint e(me);
  e.connect();
  if (me.is_first()) {
    ibv_sge result = e.piece(0, 8);
    expect_end(me, e, e.request(IBV_WR_ATOMIC_FETCH_AND_ADD, result, 4), IBV_WC_REM_INV_REQ_ERR);
  }
  me.meet();
}

void nobody_receives(side& me) {
  plan p;
  p.rnr_retry = 1;
  endpoint e(me, p);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    expect_end(me, e, e.request(IBV_WR_SEND, from), IBV_WC_RNR_RETRY_EXC_ERR);
  }
  me.meet();
}

void destroyed_peer(side& me) {
  plan p;
  p.timeout = 8;
  endpoint e(me, p);
  {
    endpoint other(me, p);  // the second side connects this one, and lets it go
    const card theirs = me.swap(me.is_first() ? e.mine() : other.mine());
    endpoint& used = me.is_first() ? e : other;
    me.require(used.to_rtr(theirs) == 0 && used.to_rts() == 0, "connect");
    me.meet();
  }
  me.meet();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    expect_end(me, e, e.request(IBV_WR_RDMA_WRITE, from, 0), IBV_WC_RETRY_EXC_ERR);
  }
  me.meet();
}

void deregistered_memory(side& me) {
  endpoint e(me);
  ibv_mr* const extra =
      ibv_reg_mr(e.pd(), e.data(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  const std::uint32_t theirs = me.swap(extra->rkey);
  e.connect();
  ibv_sge from = e.piece(8192, 8);
  ibv_send_wr wr = e.request(IBV_WR_RDMA_WRITE, from, 0);
  wr.wr.rdma.rkey = theirs;
  if (me.is_first()) me.expect(e.carry_out(wr) == IBV_WC_SUCCESS, "while it is registered");
  me.meet();
  me.expect(ibv_dereg_mr(extra) == 0, "ibv_dereg_mr");
  me.meet();
  if (me.is_first()) expect_end(me, e, wr, IBV_WC_REM_ACCESS_ERR);
  me.meet();
}

void flush_on_error_state(side& me) {
  endpoint e(me);
  e.post_receive(0, 64, 1);
  e.post_receive(0, 64, 2);
  e.connect();
  if (me.is_first()) {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_ERR;
    me.require(ibv_modify_qp(e.qp(), &a, IBV_QP_STATE) == 0, "to ERR");
    for (const std::uint64_t id : {std::uint64_t{1}, std::uint64_t{2}}) {
      const ibv_wc wc = e.wait();
      me.expect(wc.wr_id == id && wc.status == IBV_WC_WR_FLUSH_ERR, "receive %lu: %d", id,
                wc.status);
    }
    e.post_receive(0, 64, 3);
    me.expect(e.wait().wr_id == 3, "what is posted later is flushed too");
    ibv_sge from = e.piece(0, 8);
    ibv_send_wr wr = e.request(IBV_WR_RDMA_WRITE, from, 0);
    me.expect(e.carry_out(wr) == IBV_WC_WR_FLUSH_ERR, "sends as well");
  }
  me.meet();
}

void killed_peer(side& me) {
  plan p;
  p.timeout = 8;
  endpoint e(me, p);
  e.connect();
  if (!me.is_first()) kill(getpid(), SIGKILL);
  ibv_sge from = e.piece(0, 8);
  ibv_wc_status status = IBV_WC_SUCCESS;
  while (status == IBV_WC_SUCCESS)  // it may live for a moment yet
    status = e.carry_out(e.request(IBV_WR_RDMA_WRITE, from, 0));
  me.expect(status == IBV_WC_RETRY_EXC_ERR, "status %d", status);
}

void killed_while_it_should_receive(side& me) {
  plan p;
  p.timeout = 8;
  endpoint e(me, p);
  e.connect();
  if (!me.is_first()) {
    me.meet();
    kill(getpid(), SIGKILL);
  }
  ibv_sge from = e.piece(0, 8);
  ibv_send_wr wr = e.request(IBV_WR_SEND, from);
  me.require(e.post(wr) == 0, "ibv_post_send");
  me.meet();
  const ibv_wc_status status = e.wait().status;
  me.expect(status == IBV_WC_RETRY_EXC_ERR, "status %d", status);
}

}  // namespace

test_list error_tests() {
  return {{"a wrong rkey is an access error, and all behind it is flushed", bad_rkey},
          {"a write that ends beyond the region is an access error", beyond_the_region},
          {"memory that may only be read cannot be written", no_right_to_write},
          {"a queue pair without the right to be written refuses it", queue_pair_without_the_right},
          {"a wrong lkey is a local protection error", bad_lkey},
          {"a message that is longer than its receive is an error on both sides",
           too_long_for_the_receive},
          {"a misaligned atomic is an invalid request", misaligned_atomic},
          {"a send that nobody receives ends when its retries are used up", nobody_receives},
          {"a queue pair that is gone is found by the retries", destroyed_peer},
          {"a key is of no use after its memory was deregistered", deregistered_memory},
          {"a queue pair that is set to error flushes everything", flush_on_error_state},
          {"a peer that was killed is found by the retries", killed_peer, SIGKILL},
          {"a send that waits for a receive ends when the peer is killed",
           killed_while_it_should_receive, SIGKILL}};
}

}  // namespace conformance
