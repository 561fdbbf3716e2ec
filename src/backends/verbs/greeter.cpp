// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/greeter.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace heddle::transport::verbs {
namespace {

/// Datagrams of other users of the card do not get through.
constexpr std::uint32_t queue_key = 0x4844'4c45;  // "HDLE"

}  // namespace

greeter::greeter(const card& on, std::span<const std::byte, 32> job_secret)
    : card_(on), memory_(2 * slots * slot_bytes) {
  std::ranges::copy(job_secret, secret_.begin());
  registered_.reset(
      ibv_reg_mr(on.domain(), memory_.data(), memory_.size(), int{IBV_ACCESS_LOCAL_WRITE}));
  if (registered_ == nullptr)
    fail_errno(errno,
               "{}: no memory can be registered; raise the limit on locked memory (ulimit -l)",
               on.name());
  channel_.reset(ibv_create_comp_channel(on.context()));
  if (channel_ == nullptr) fail_errno(errno, "{}: no completion channel (ulimit -n)", on.name());
  ::fcntl(channel_->fd, F_SETFL, ::fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  cq_.reset(ibv_create_cq(on.context(), 2 * slots, nullptr, channel_.get(), 0));
  if (cq_ == nullptr) fail_errno(errno, "{}: no completion queue", on.name());
  bring_up();
}

void greeter::bring_up() {
  ibv_qp_init_attr made{};
  made.send_cq = made.recv_cq = cq_.get();
  made.cap = {.max_send_wr = slots,
              .max_recv_wr = slots,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  made.qp_type = IBV_QPT_UD;
  made.sq_sig_all = 1;
  qp_.reset(ibv_create_qp(card_.domain(), &made));
  if (qp_ == nullptr) fail_errno(errno, "{}: no queue pair for datagrams", card_.name());
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.pkey_index = card_.chosen().pkey_index;
  a.port_num = card_.port();
  a.qkey = queue_key;
  check(ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
        card_.name() + ": set up the queue pair for datagrams");
  for (std::size_t s = 0; s < slots; ++s) {
    offer(s);
    free_.push_back(slots + s);
  }
  a = {};
  a.qp_state = IBV_QPS_RTR;
  check(ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE), card_.name() + ": make it receive");
  a.qp_state = IBV_QPS_RTS;
  check(ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE | IBV_QP_SQ_PSN),
        card_.name() + ": make it send");
  (void)arm();
}

void greeter::offer(std::size_t slot) noexcept {
  ibv_sge where{reinterpret_cast<std::uint64_t>(place_of(slot)), slot_bytes, registered_->lkey};
  ibv_recv_wr w{}, *bad = nullptr;
  w.wr_id = slot;
  w.sg_list = &where;
  w.num_sge = 1;
  (void)ibv_post_recv(qp_.get(), &w, &bad);
}

bool greeter::send(const peer_facts& to, const hello& what) noexcept {
  if (free_.empty()) return false;
  ibv_ah_attr way = card_.way_to(to.place);
  handle<ibv_ah> ah(ibv_create_ah(card_.domain(), &way));
  if (ah == nullptr) return false;
  const std::size_t slot = free_.back();
  const hello_image image = encode(what, secret_);
  std::memcpy(place_of(slot), image.data(), image.size());
  ibv_sge from{reinterpret_cast<std::uint64_t>(place_of(slot)), image.size(), registered_->lkey};
  ibv_send_wr w{}, *bad = nullptr;
  w.wr_id = slot;
  w.sg_list = &from;
  w.num_sge = 1;
  w.opcode = IBV_WR_SEND;
  w.wr.ud.ah = ah.get();
  w.wr.ud.remote_qpn = to.greeter;
  w.wr.ud.remote_qkey = queue_key;
  if (ibv_post_send(qp_.get(), &w, &bad) != 0) return false;
  free_.pop_back();
  on_its_way_.at(slot - slots) = std::move(ah);
  return true;
}

void greeter::receive(const std::function<void(const hello&)>& on_hello) {
  ibv_wc done{};
  while (ibv_poll_cq(cq_.get(), 1, &done) > 0) {
    const std::size_t slot = done.wr_id;
    if (slot >= slots) {
      on_its_way_.at(slot - slots).reset();
      free_.push_back(slot);
      continue;
    }
    if (done.status == IBV_WC_SUCCESS && done.byte_len >= grh_bytes)
      if (const auto h = parse_hello({place_of(slot) + grh_bytes,
                                      std::min<std::size_t>(done.byte_len, slot_bytes) - grh_bytes},
                                     secret_))
        on_hello(*h);
    offer(slot);
  }
}

bool greeter::arm() noexcept {
  ibv_cq* told = nullptr;
  void* unused = nullptr;
  while (ibv_get_cq_event(channel_.get(), &told, &unused) == 0) ibv_ack_cq_events(told, 1);
  return ibv_req_notify_cq(cq_.get(), 0) == 0;
}

}  // namespace heddle::transport::verbs
