// SPDX-License-Identifier: BSD-3-Clause
// verbs_calls.h - libibverbs by its calls and nothing else: what has to be there before a request
// is posted. What is made here goes with the process. Functions throw std::system_error naming the
// call.
#pragma once
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

namespace heddle::bench {

/// Bytes of a request that the card takes at once, as Heddle's queue pairs ask for.
inline constexpr std::uint32_t verbs_inlined = 220;
inline constexpr int verbs_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                                    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

template <class T>
T* needed(T* made, const char* what) {
  if (made == nullptr) throw std::system_error(errno, std::generic_category(), what);
  return made;
}

inline void succeeds(int code, const char* what) {
  if (code != 0) throw std::system_error(code, std::generic_category(), what);
}

/// The first card, and its first port.
struct verbs_card {
  verbs_card() {
    succeeds(ibv_query_port(context, 1, &port), "ibv_query_port");
    succeeds(ibv_query_gid(context, 1, 0, &gid), "ibv_query_gid");
  }
  [[nodiscard]] ibv_mr* know(std::span<std::byte> memory) const {
    return needed(ibv_reg_mr(pd, memory.data(), memory.size(), verbs_rights), "ibv_reg_mr");
  }
  [[nodiscard]] ibv_cq* make_cq(int entries) const {
    return needed(ibv_create_cq(context, entries, nullptr, nullptr, 0), "ibv_create_cq");
  }
  [[nodiscard]] ibv_srq* make_srq(unsigned receives) const {
    ibv_srq_init_attr how{};
    how.attr = {receives, 1, 0};
    return needed(ibv_create_srq(pd, &how), "ibv_create_srq");
  }
  /// Reliable; its receives are those of `receives`.
  [[nodiscard]] ibv_qp* make_qp(ibv_cq* ends, ibv_srq* receives, unsigned depth) const {
    ibv_qp_init_attr how{};
    how.send_cq = how.recv_cq = ends;
    how.srq = receives;
    how.cap = {depth, 0, 1, 0, verbs_inlined};
    how.qp_type = IBV_QPT_RC;
    return needed(ibv_create_qp(pd, &how), "ibv_create_qp");
  }
  static ibv_context* open_first() {
    ibv_device** const all = needed(ibv_get_device_list(nullptr), "ibv_get_device_list");
    return needed(ibv_open_device(needed(all[0], "there is no card: ibv_get_device_list")),
                  "ibv_open_device");
  }

  ibv_context* context = open_first();
  ibv_pd* pd = needed(ibv_alloc_pd(context), "ibv_alloc_pd");
  ibv_port_attr port{};
  ibv_gid gid{};
};

/// Where a queue pair is for its peer.
struct verbs_address {
  std::uint32_t qp = 0;
  std::uint16_t lid = 0;
  ibv_gid gid{};
};

[[nodiscard]] inline verbs_address address_of(const verbs_card& card, const ibv_qp* qp) noexcept {
  return {qp->qp_num, card.port.lid, card.gid};
}

/// `qp` may post, and is posted to, when both sides have done this.
inline void connect(const verbs_card& card, ibv_qp* qp, const verbs_address& peer) {
  ibv_qp_attr a{};
  const auto change = [&](ibv_qp_state to, int also) {
    a.qp_state = to;
    succeeds(ibv_modify_qp(qp, &a, IBV_QP_STATE | also), "ibv_modify_qp");
  };
  a.port_num = 1;
  a.qp_access_flags = verbs_rights;
  change(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  a.path_mtu = card.port.active_mtu;
  a.dest_qp_num = peer.qp;
  a.max_dest_rd_atomic = 16;
  a.min_rnr_timer = 1;
  a.ah_attr.dlid = peer.lid;
  a.ah_attr.port_num = 1;
  a.ah_attr.is_global = card.port.link_layer == IBV_LINK_LAYER_ETHERNET;
  a.ah_attr.grh = {peer.gid, 0, 0, 64, 0};
  change(IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  a.timeout = 14;
  a.retry_cnt = a.rnr_retry = 7;
  a.max_rd_atomic = 16;
  change(IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC);
}

/// An operation by one part of our memory, on the place `at` of the peer's that `key` names.
[[nodiscard]] inline ibv_send_wr request_of(ibv_wr_opcode opcode, ibv_sge& local, std::uint64_t at,
                                            std::uint32_t key) {
  ibv_send_wr w{};
  w.sg_list = &local;
  w.num_sge = 1;
  w.opcode = opcode;
  const bool goes_out = opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD;
  if (goes_out && local.length <= verbs_inlined) w.send_flags = IBV_SEND_INLINE;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
    w.wr.atomic = {at, 1, 0, key};
  else
    w.wr.rdma = {at, key};
  return w;
}

/// A list of requests.
inline void post(ibv_qp* qp, ibv_send_wr& first) {
  ibv_send_wr* bad = nullptr;
  succeeds(ibv_post_send(qp, &first, &bad), "ibv_post_send");
}

inline void post(ibv_srq* receives, ibv_recv_wr& first) {
  ibv_recv_wr* bad = nullptr;
  succeeds(ibv_post_srq_recv(receives, &first, &bad), "ibv_post_srq_recv");
}

}  // namespace heddle::bench
