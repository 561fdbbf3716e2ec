// SPDX-License-Identifier: BSD-3-Clause
// verbs_paths.cpp - 64 operations of a queue pair on its own process, and then all their
// completions; each with a doorbell of its own, or (`verbs-list-...`) 16 by one.
#include "paths/verbs_paths.h"

#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace heddle::paths {
namespace {

constexpr int per_batch = 64, per_list = 16;
constexpr std::size_t bytes_there = 4096;
constexpr std::uint32_t inlined = 220;

template <class T>
T* needed(T* made, const char* what) {
  if (made == nullptr) throw std::system_error(errno, std::generic_category(), what);
  return made;
}

void succeeds(int code, const char* what) {
  if (code != 0) throw std::system_error(code, std::generic_category(), what);
}

/// Two queue pairs connected to each other, as Heddle's stream and inlet. What they are made of
/// goes with the process.
class loop {
 public:
  loop() {
    ibv_query_port(context_, 1, &port_);
    ibv_query_gid(context_, 1, 0, &gid_);
    connect(from_, to_);
    connect(to_, from_);
    for (std::uint64_t i = 0; i < per_batch; ++i) receive();
  }

  /// One request, known by its end.
  void post(ibv_wr_opcode opcode, std::size_t bytes) {
    ibv_sge part;
    ibv_send_wr w = request(opcode, bytes, part);
    w.send_flags |= IBV_SEND_SIGNALED;
    send(w);
  }
  /// `per_list` of them by one doorbell; the last one tells of the end.
  void post_list(ibv_wr_opcode opcode, std::size_t bytes) {
    std::array<ibv_sge, per_list> parts;
    std::array<ibv_send_wr, per_list> works;
    for (std::size_t i = 0; i < works.size(); ++i) {
      works.at(i) = request(opcode, bytes, parts.at(i));
      works.at(i).next = i + 1 < works.size() ? &works.at(i + 1) : nullptr;
    }
    works.back().send_flags |= IBV_SEND_SIGNALED;
    send(works.front());
  }
  void drain(int completions) {
    ibv_wc c;
    while (completions > 0) {
      const int n = ibv_poll_cq(cq_, 1, &c);
      if (n < 0 || (n == 1 && c.status != IBV_WC_SUCCESS))
        throw std::runtime_error("a request has failed");
      completions -= n;
    }
  }
  void receive() {
    ibv_sge part{address(), bytes_there, memory_->lkey};
    ibv_recv_wr w{}, *bad = nullptr;
    w.sg_list = &part;
    w.num_sge = 1;
    succeeds(ibv_post_srq_recv(srq_, &w, &bad), "ibv_post_srq_recv");
  }

 private:
  static ibv_context* open() {
    ibv_device** const all = needed(ibv_get_device_list(nullptr), "ibv_get_device_list");
    return needed(ibv_open_device(needed(all[0], "no card")), "ibv_open_device");
  }
  ibv_srq* make_srq() {
    ibv_srq_init_attr how{};
    how.attr = {2 * per_batch, 1, 0};
    return needed(ibv_create_srq(pd_, &how), "ibv_create_srq");
  }
  ibv_qp* make_qp() {
    ibv_qp_init_attr how{};
    how.send_cq = how.recv_cq = cq_;
    how.srq = srq_;
    how.cap = {per_batch, 0, 1, 0, inlined};
    how.qp_type = IBV_QPT_RC;
    return needed(ibv_create_qp(pd_, &how), "ibv_create_qp");
  }
  void connect(ibv_qp* qp, const ibv_qp* peer) {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = 1;
    a.qp_access_flags = all_rights;
    succeeds(
        ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        "to INIT");
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = port_.active_mtu;
    a.dest_qp_num = peer->qp_num;
    a.max_dest_rd_atomic = 16;
    a.min_rnr_timer = 1;
    a.ah_attr.dlid = port_.lid;
    a.ah_attr.port_num = 1;
    a.ah_attr.is_global = port_.link_layer == IBV_LINK_LAYER_ETHERNET;
    a.ah_attr.grh = {gid_, 0, 0, 64, 0};
    succeeds(ibv_modify_qp(qp, &a,
                           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                               IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
             "to RTR");
    a.qp_state = IBV_QPS_RTS;
    a.timeout = 14;
    a.retry_cnt = a.rnr_retry = 7;
    a.max_rd_atomic = 16;
    succeeds(ibv_modify_qp(qp, &a,
                           IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                               IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
             "to RTS");
  }
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uint64_t>(memory_->addr);
  }
  [[nodiscard]] ibv_send_wr request(ibv_wr_opcode opcode, std::size_t bytes, ibv_sge& part) const {
    part = {address(), static_cast<std::uint32_t>(bytes), memory_->lkey};
    ibv_send_wr w{};
    w.sg_list = &part;
    w.num_sge = 1;
    w.opcode = opcode;
    const bool goes_out = opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_SEND_WITH_IMM;
    if (goes_out && bytes <= inlined) w.send_flags = IBV_SEND_INLINE;
    w.wr.rdma = {address() + bytes_there / 2, memory_->rkey};
    if (opcode != IBV_WR_ATOMIC_FETCH_AND_ADD) return w;
    w.wr.atomic = {address() + bytes_there / 2, 1, 0, memory_->rkey};
    return w;
  }
  void send(ibv_send_wr& first) {
    ibv_send_wr* bad = nullptr;
    succeeds(ibv_post_send(from_, &first, &bad), "ibv_post_send");
  }

  static constexpr int all_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                                    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  alignas(4096) std::array<std::byte, bytes_there> data_{};
  ibv_port_attr port_{};
  ibv_gid gid_{};
  ibv_context* const context_ = open();
  ibv_pd* const pd_ = needed(ibv_alloc_pd(context_), "ibv_alloc_pd");
  ibv_mr* const memory_ =
      needed(ibv_reg_mr(pd_, data_.data(), data_.size(), all_rights), "ibv_reg_mr");
  ibv_cq* const cq_ =
      needed(ibv_create_cq(context_, 4 * per_batch, nullptr, nullptr, 0), "ibv_create_cq");
  ibv_srq* const srq_ = make_srq();
  ibv_qp* const from_ = make_qp();
  ibv_qp* const to_ = make_qp();
};

std::function<void(long)> one_by_one(ibv_wr_opcode opcode, std::size_t bytes) {
  return [=](long times) {
    loop l;
    for (long batch = 0; batch < times / per_batch; ++batch) {
      for (int i = 0; i < per_batch; ++i) l.post(opcode, bytes);
      l.drain(per_batch);
    }
  };
}

std::function<void(long)> in_lists(ibv_wr_opcode opcode, std::size_t bytes) {
  return [=](long times) {
    loop l;
    for (long batch = 0; batch < times / per_batch; ++batch) {
      for (int i = 0; i < per_batch / per_list; ++i) l.post_list(opcode, bytes);
      l.drain(per_batch / per_list);
    }
  };
}

/// As long as a call of 8 bytes with its head; the receiver's part as well.
void message(long times) {
  constexpr std::size_t bytes = 32;
  loop l;
  for (long batch = 0; batch < times / per_batch; ++batch) {
    for (int i = 0; i < per_batch / per_list; ++i) l.post_list(IBV_WR_SEND_WITH_IMM, bytes);
    l.drain(per_batch + per_batch / per_list);
    for (int i = 0; i < per_batch; ++i) l.receive();
  }
}

}  // namespace

const std::map<std::string, std::function<void(long)>>& verbs_paths() {
  static const std::map<std::string, std::function<void(long)>> paths{
      {"verbs-put8", one_by_one(IBV_WR_RDMA_WRITE, 8)},
      {"verbs-put64", one_by_one(IBV_WR_RDMA_WRITE, 64)},
      {"verbs-get8", one_by_one(IBV_WR_RDMA_READ, 8)},
      {"verbs-add8", one_by_one(IBV_WR_ATOMIC_FETCH_AND_ADD, 8)},
      {"verbs-list-put8", in_lists(IBV_WR_RDMA_WRITE, 8)},
      {"verbs-list-get8", in_lists(IBV_WR_RDMA_READ, 8)},
      {"verbs-call", message}};
  return paths;
}

}  // namespace heddle::paths
