// SPDX-License-Identifier: BSD-3-Clause
// verbs_calls.cpp - opening a card, and taking a queue pair through its states.
#include "libraries/verbs_calls.h"

#include <cerrno>
#include <system_error>

namespace heddle::bench {
namespace {

constexpr int all_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

template <class T>
T* needed(T* made, const char* what) {
  if (made == nullptr) throw std::system_error(errno, std::generic_category(), what);
  return made;
}

void succeeds(int code, const char* what) {
  if (code != 0) throw std::system_error(code, std::generic_category(), what);
}

ibv_context* open_first() {
  ibv_device** const all = needed(ibv_get_device_list(nullptr), "ibv_get_device_list");
  return needed(ibv_open_device(needed(all[0], "there is no card: ibv_get_device_list")),
                "ibv_open_device");
}

void change(ibv_qp* qp, ibv_qp_attr& a, ibv_qp_state to, int also) {
  a.qp_state = to;
  succeeds(ibv_modify_qp(qp, &a, IBV_QP_STATE | also), "ibv_modify_qp");
}

}  // namespace

verbs_card::verbs_card()
    : context(open_first()), pd(needed(ibv_alloc_pd(context), "ibv_alloc_pd")) {
  succeeds(ibv_query_port(context, 1, &port), "ibv_query_port");
  succeeds(ibv_query_gid(context, 1, 0, &gid), "ibv_query_gid");
}

ibv_mr* verbs_card::know(std::span<std::byte> memory) const {
  return needed(ibv_reg_mr(pd, memory.data(), memory.size(), all_rights), "ibv_reg_mr");
}

ibv_cq* verbs_card::make_cq(int entries) const {
  return needed(ibv_create_cq(context, entries, nullptr, nullptr, 0), "ibv_create_cq");
}

ibv_srq* verbs_card::make_srq(unsigned receives) const {
  ibv_srq_init_attr how{};
  how.attr = {receives, 1, 0};
  return needed(ibv_create_srq(pd, &how), "ibv_create_srq");
}

ibv_qp* verbs_card::make_qp(ibv_cq* ends, ibv_srq* receives, unsigned depth) const {
  ibv_qp_init_attr how{};
  how.send_cq = how.recv_cq = ends;
  how.srq = receives;
  how.cap = {depth, 0, 1, 0, verbs_inlined};
  how.qp_type = IBV_QPT_RC;
  return needed(ibv_create_qp(pd, &how), "ibv_create_qp");
}

verbs_address address_of(const verbs_card& card, const ibv_qp* qp) noexcept {
  return {qp->qp_num, card.port.lid, card.gid};
}

void connect(const verbs_card& card, ibv_qp* qp, const verbs_address& peer) {
  ibv_qp_attr a{};
  a.port_num = 1;
  a.qp_access_flags = all_rights;
  change(qp, a, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  a.path_mtu = card.port.active_mtu;
  a.dest_qp_num = peer.qp;
  a.max_dest_rd_atomic = 16;
  a.min_rnr_timer = 1;
  a.ah_attr.dlid = peer.lid;
  a.ah_attr.port_num = 1;
  a.ah_attr.is_global = card.port.link_layer == IBV_LINK_LAYER_ETHERNET;
  a.ah_attr.grh = {peer.gid, 0, 0, 64, 0};
  change(qp, a, IBV_QPS_RTR,
         IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
             IBV_QP_MIN_RNR_TIMER);
  a.timeout = 14;
  a.retry_cnt = a.rnr_retry = 7;
  a.max_rd_atomic = 16;
  change(qp, a, IBV_QPS_RTS,
         IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
             IBV_QP_MAX_QP_RD_ATOMIC);
}

void post(ibv_qp* qp, ibv_send_wr& first) {
  ibv_send_wr* bad = nullptr;
  succeeds(ibv_post_send(qp, &first, &bad), "ibv_post_send");
}

void post(ibv_srq* receives, ibv_recv_wr& first) {
  ibv_recv_wr* bad = nullptr;
  succeeds(ibv_post_srq_recv(receives, &first, &bad), "ibv_post_srq_recv");
}

}  // namespace heddle::bench
