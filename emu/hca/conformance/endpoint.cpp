// SPDX-License-Identifier: BSD-3-Clause
// endpoint.cpp - see endpoint.h.
#include "endpoint.h"

#include <sched.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace conformance {

ibv_context* open_device(side& me) {
  int count = 0;
  ibv_device** const all = ibv_get_device_list(&count);
  me.require(all != nullptr && count > 0, "no device: %s", std::strerror(errno));
  ibv_context* found = nullptr;
  for (int i = 0; i < count && found == nullptr; ++i) {
    const std::string name = ibv_get_device_name(all[i]);
    if (me.how().device.empty() || me.how().device == name) found = ibv_open_device(all[i]);
  }
  ibv_free_device_list(all);
  me.require(found != nullptr, "device \"%s\" cannot be opened", me.how().device.c_str());
  return found;
}

endpoint::endpoint(side& me, const plan& how) : me_(me), how_(how), context_(open_device(me)) {
  me.require(ibv_query_port(context_, static_cast<std::uint8_t>(me.how().port), &port_) == 0,
             "no port %u", me.how().port);
  pd_ = ibv_alloc_pd(context_);
  me.require(pd_ != nullptr, "ibv_alloc_pd: %s", std::strerror(errno));
  if (how.events) channel_ = ibv_create_comp_channel(context_);
  cq_ = ibv_create_cq(context_, static_cast<int>(how.cq_depth), this, channel_, 0);
  me.require(cq_ != nullptr, "ibv_create_cq: %s", std::strerror(errno));
  mr_ = ibv_reg_mr(pd_, memory_.data(), memory_.size(), how.mr_access);
  me.require(mr_ != nullptr, "ibv_reg_mr: %s", std::strerror(errno));
  make_qp(how);
  if (how.init) me.require(to_init() == 0, "to INIT: %s", std::strerror(errno));
}

void endpoint::make_qp(const plan& how) {
  if (how.srq) {
    ibv_srq_init_attr srq{};
    srq.attr.max_wr = how.depth;
    srq.attr.max_sge = how.sges;
    srq_ = ibv_create_srq(pd_, &srq);
    me_.require(srq_ != nullptr, "ibv_create_srq: %s", std::strerror(errno));
  }
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.srq = srq_;
  init.cap = {how.depth, how.depth, how.sges, how.sges, how.inlined};
  init.qp_type = how.type;
  qp_ = ibv_create_qp(pd_, &init);
  me_.require(qp_ != nullptr, "ibv_create_qp: %s", std::strerror(errno));
}

endpoint::~endpoint() {
  if (qp_ != nullptr) me_.expect(ibv_destroy_qp(qp_) == 0, "ibv_destroy_qp");
  if (srq_ != nullptr) me_.expect(ibv_destroy_srq(srq_) == 0, "ibv_destroy_srq");
  if (mr_ != nullptr) me_.expect(ibv_dereg_mr(mr_) == 0, "ibv_dereg_mr");
  if (cq_ != nullptr) me_.expect(ibv_destroy_cq(cq_) == 0, "ibv_destroy_cq");
  if (channel_ != nullptr)
    me_.expect(ibv_destroy_comp_channel(channel_) == 0, "ibv_destroy_comp_channel");
  if (pd_ != nullptr) me_.expect(ibv_dealloc_pd(pd_) == 0, "ibv_dealloc_pd");
  if (context_ != nullptr) ibv_close_device(context_);
}

card endpoint::mine() const {
  card c{};
  c.qpn = qp_->qp_num;
  c.lid = port_.lid;
  const int index = me_.how().gid < 0 ? 0 : me_.how().gid;
  ibv_query_gid(context_, static_cast<std::uint8_t>(me_.how().port), index, &c.gid);
  c.address = reinterpret_cast<std::uint64_t>(memory_.data());
  c.rkey = mr_->rkey;
  return c;
}

ibv_ah_attr endpoint::route_to(const card& peer) const {
  ibv_ah_attr to{};
  to.dlid = peer.lid;
  to.port_num = static_cast<std::uint8_t>(me_.how().port);
  if (me_.how().gid < 0 && port_.link_layer != IBV_LINK_LAYER_ETHERNET) return to;
  to.is_global = 1;
  to.grh.dgid = peer.gid;
  to.grh.sgid_index = static_cast<std::uint8_t>(me_.how().gid < 0 ? 0 : me_.how().gid);
  to.grh.hop_limit = 64;
  return to;
}

int endpoint::to_init() {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = static_cast<std::uint8_t>(me_.how().port);
  a.qp_access_flags = how_.qp_access;
  a.qkey = qkey;
  const int last = how_.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  return ibv_modify_qp(qp_, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | last);
}

int endpoint::to_rtr(const card& peer) {
  peer_ = peer;
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTR;
  if (how_.type == IBV_QPT_UD) return ibv_modify_qp(qp_, &a, IBV_QP_STATE);
  a.path_mtu = port_.active_mtu;
  a.dest_qp_num = peer.qpn;
  a.rq_psn = 17;
  a.max_dest_rd_atomic = 1;
  a.min_rnr_timer = 1;
  a.ah_attr = route_to(peer);
  return ibv_modify_qp(qp_, &a,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int endpoint::to_rts() {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTS;
  a.sq_psn = 17;
  if (how_.type == IBV_QPT_UD) return ibv_modify_qp(qp_, &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
  a.timeout = how_.timeout;
  a.retry_cnt = 1;
  a.rnr_retry = how_.rnr_retry;
  a.max_rd_atomic = 1;
  return ibv_modify_qp(qp_, &a,
                       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                           IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

void endpoint::connect() {
  const card theirs = me_.swap(mine());
  if (state() == IBV_QPS_RESET) me_.require(to_init() == 0, "to INIT: %s", std::strerror(errno));
  me_.require(to_rtr(theirs) == 0 && to_rts() == 0, "cannot connect: %s", std::strerror(errno));
  me_.meet();
}

ibv_qp_state endpoint::state() const {
  ibv_qp_attr a{};
  ibv_qp_init_attr unused{};
  me_.require(ibv_query_qp(qp_, &a, IBV_QP_STATE, &unused) == 0, "ibv_query_qp");
  return a.qp_state;
}

ibv_sge endpoint::piece(std::size_t at, std::size_t bytes) const {
  return {reinterpret_cast<std::uint64_t>(memory_.data()) + at, static_cast<std::uint32_t>(bytes),
          mr_->lkey};
}

ibv_send_wr endpoint::request(ibv_wr_opcode opcode, ibv_sge& sge, std::size_t remote) {
  ibv_send_wr wr{};
  wr.opcode = opcode;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.send_flags = IBV_SEND_SIGNALED;
  if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic.remote_addr = peer_.address + remote;
    wr.wr.atomic.rkey = peer_.rkey;
  } else {
    wr.wr.rdma.remote_addr = peer_.address + remote;
    wr.wr.rdma.rkey = peer_.rkey;
  }
  return wr;
}

int endpoint::post(ibv_send_wr& list) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp_, &list, &bad);
}

void endpoint::post_receive(std::size_t at, std::size_t bytes, std::uint64_t id) {
  ibv_sge sge = piece(at, bytes);
  ibv_recv_wr wr{id, nullptr, &sge, 1};
  ibv_recv_wr* bad = nullptr;
  const int rc =
      srq_ != nullptr ? ibv_post_srq_recv(srq_, &wr, &bad) : ibv_post_recv(qp_, &wr, &bad);
  me_.require(rc == 0, "a receive is refused: %s", std::strerror(rc));
}

ibv_wc endpoint::wait() {
  ibv_wc wc{};
  int count = 0;
  while ((count = ibv_poll_cq(cq_, 1, &wc)) == 0) sched_yield();  // alarm() ends what never comes
  me_.require(count == 1, "ibv_poll_cq gave %d", count);
  return wc;
}

bool endpoint::is_quiet() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  ibv_wc wc{};
  while (std::chrono::steady_clock::now() < until) {
    if (ibv_poll_cq(cq_, 1, &wc) != 0) return false;
    sched_yield();
  }
  return true;
}

ibv_wc_status endpoint::carry_out(ibv_send_wr wr) {
  me_.require(post(wr) == 0, "ibv_post_send");
  return wait().status;
}

}  // namespace conformance
