// SPDX-License-Identifier: BSD-3-Clause
// queues.cpp - the sizes of queues, lists of work requests, and the extended interfaces.
#include <cerrno>
#include <cstring>
#include <vector>

#include "endpoint.h"

namespace conformance {

namespace {

void full_send_queue(side& me) {
  plan p;
  p.depth = 4;
  endpoint e(me, p);
  e.connect();
  if (me.is_first()) {
    ibv_qp_attr a{};
    ibv_qp_init_attr made{};
    ibv_query_qp(e.qp(), &a, IBV_QP_CAP, &made);
    const std::size_t depth = made.cap.max_send_wr;
    me.expect(depth >= 4, "at least what was asked for");
    ibv_sge from = e.piece(0, 8);
    std::vector<ibv_send_wr> list(depth + 1, e.request(IBV_WR_RDMA_WRITE, from, 0));
    for (std::size_t i = 0; i < depth; ++i) {
      list[i].next = &list[i + 1];
      list[i].send_flags = i + 1 == depth ? IBV_SEND_SIGNALED : 0;
    }
    ibv_send_wr* bad = nullptr;
    me.expect(ibv_post_send(e.qp(), list.data(), &bad) == ENOMEM, "one too many");
    me.expect(bad == &list[depth], "the first refused one is told");
    me.expect(e.wait().status == IBV_WC_SUCCESS, "what is before it is carried out");
    me.expect(e.carry_out(list[depth]) == IBV_WC_SUCCESS, "one completion frees all of them");
  }
  me.meet();
}

void inline_buffer_is_free(side& me) {
  endpoint e(me);
  e.post_receive(0, 64, 1);
  e.connect();
  if (me.is_first()) {
    std::uint64_t local = 41;
    ibv_sge from{reinterpret_cast<std::uint64_t>(&local), 8, 0};  // neither registered nor kept
    ibv_send_wr wr = e.request(IBV_WR_SEND, from);
    wr.send_flags |= IBV_SEND_INLINE;
    me.require(e.post(wr) == 0, "ibv_post_send");
    local = 0;
    me.expect(e.wait().status == IBV_WC_SUCCESS, "inline");
  } else {
    e.wait();
    me.expect(e.words()[0] == 41, "got %lu", e.words()[0]);
  }
  me.meet();
}

void too_many_pieces(side& me) {
  endpoint e(me);
  e.connect();
  std::vector<ibv_sge> many(100, e.piece(0, 1));
  ibv_send_wr wr = e.request(IBV_WR_RDMA_WRITE, many[0], 0);
  wr.num_sge = 100;
  me.expect(e.post(wr) != 0, "100 pieces are refused");
  me.meet();
}

void shared_receives_serve_two(side& me) {
  plan p;
  p.srq = true;
  endpoint e(me, p);
  for (std::uint64_t id = 0; id < 3; ++id) e.post_receive(64 * id, 64, id);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    for (int i = 0; i < 3; ++i)
      me.expect(e.carry_out(e.request(IBV_WR_SEND, from)) == IBV_WC_SUCCESS, "send %d", i);
  } else {
    for (std::uint64_t id = 0; id < 3; ++id) {
      const ibv_wc wc = e.wait();
      me.expect(wc.wr_id == id && wc.qp_num == e.qp()->qp_num, "receive %lu", id);
    }
  }
  me.meet();
}

void busy_completion_queue(side& me) {
  endpoint e(me);
  me.expect(ibv_destroy_cq(e.cq()) == EBUSY, "a CQ with a queue pair is busy");
}

void extended_polling(side& me) {
  endpoint e(me);
  ibv_cq_init_attr_ex how{};
  how.cqe = 16;
  how.wc_flags = IBV_WC_STANDARD_FLAGS;
  ibv_cq_ex* const cq = ibv_create_cq_ex(e.device(), &how);
  if (cq == nullptr) me.skip("no extended CQs");
  ibv_poll_cq_attr none{};
  me.expect(ibv_start_poll(cq, &none) == ENOENT, "an empty queue says ENOENT");
  me.expect(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0, "ibv_destroy_cq");
}

/// A queue pair that is filled by ibv_wr_*, its CQ by ibv_start_poll; loops back to itself.
void requests_by_calls(side& me) {
  endpoint e(me);
  ibv_cq_init_attr_ex cq_how{};
  cq_how.cqe = 16;
  cq_how.wc_flags = IBV_WC_STANDARD_FLAGS;
  ibv_cq_ex* const cq = ibv_create_cq_ex(e.device(), &cq_how);
  if (cq == nullptr) me.skip("no extended CQs");
  ibv_qp_init_attr_ex how{};
  how.send_cq = how.recv_cq = ibv_cq_ex_to_cq(cq);
  how.cap = {8, 8, 1, 1, 16};
  how.qp_type = IBV_QPT_UD;
  how.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  how.pd = e.pd();
  how.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM;
  ibv_qp* const qp = ibv_create_qp_ex(e.device(), &how);
  if (qp == nullptr) me.skip("no extended queue pairs");
  ibv_qp_attr a{};
  a.port_num = static_cast<std::uint8_t>(me.how().port);
  a.qkey = qkey;
  a.qp_state = IBV_QPS_INIT;
  me.require(
      ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0,
      "INIT");
  a.qp_state = IBV_QPS_RTR;
  me.require(ibv_modify_qp(qp, &a, IBV_QP_STATE) == 0, "RTR");
  a.qp_state = IBV_QPS_RTS;
  me.require(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0, "RTS");
  ibv_sge into = e.piece(0, 64);
  ibv_recv_wr receive{5, nullptr, &into, 1};
  ibv_recv_wr* bad = nullptr;
  me.require(ibv_post_recv(qp, &receive, &bad) == 0, "ibv_post_recv");
  ibv_ah_attr to = e.route_to(e.mine());
  ibv_ah* const self = ibv_create_ah(e.pd(), &to);
  ibv_qp_ex* const x = ibv_qp_to_qp_ex(qp);
  std::uint64_t value = 123;
  ibv_wr_start(x);
  x->wr_id = 6;
  x->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send_imm(x, 42);
  ibv_wr_set_ud_addr(x, self, qp->qp_num, qkey);
  ibv_wr_set_inline_data(x, &value, sizeof value);
  me.expect(ibv_wr_complete(x) == 0, "ibv_wr_complete");
  for (int found = 0; found < 2; ++found) {
    ibv_poll_cq_attr none{};
    while (ibv_start_poll(cq, &none) != 0) {
    }
    me.expect(cq->status == IBV_WC_SUCCESS, "status %d", cq->status);
    if (cq->wr_id == 5) {
      me.expect(ibv_wc_read_byte_len(cq) == 48 && ibv_wc_read_imm_data(cq) == 42, "received");
    } else {
      me.expect(cq->wr_id == 6 && ibv_wc_read_opcode(cq) == IBV_WC_SEND, "sent");
    }
    ibv_end_poll(cq);
  }
  me.expect(e.words()[5] == 123, "behind the header is %lu", e.words()[5]);
  ibv_destroy_ah(self);
  ibv_destroy_qp(qp);
  ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
}

void thread_domains(side& me) {
  endpoint e(me);
  ibv_td_init_attr none{};
  ibv_td* const td = ibv_alloc_td(e.device(), &none);
  if (td == nullptr) me.skip("no thread domains");
  ibv_parent_domain_init_attr how{};
  how.pd = e.pd();
  how.td = td;
  ibv_pd* const parent = ibv_alloc_parent_domain(e.device(), &how);
  me.require(parent != nullptr, "ibv_alloc_parent_domain");
  me.expect(ibv_dealloc_td(td) != 0, "a thread domain that is in use stays");
  me.expect(ibv_dealloc_pd(parent) == 0 && ibv_dealloc_td(td) == 0, "in this order they go");
}

}  // namespace

test_list queue_tests() {
  return {{"a full send queue refuses, and one completion frees all before it", full_send_queue},
          {"an inline buffer is free on return and needs no key", inline_buffer_is_free},
          {"more pieces than the queue pair takes are refused", too_many_pieces},
          {"a shared receive queue serves its queue pairs in order", shared_receives_serve_two},
          {"a completion queue that is in use stays", busy_completion_queue},
          {"an empty extended completion queue says so", extended_polling},
          {"requests put together by calls are posted as one", requests_by_calls},
          {"a thread domain goes after its parent domain", thread_domains}};
}

}  // namespace conformance
