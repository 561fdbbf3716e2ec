// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/lane_queues.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace heddle::transport::verbs {
namespace {

constexpr std::uint32_t most_room = 4096;
constexpr std::uint32_t most_words = 4096;
constexpr std::uint32_t most_window = 256;
constexpr std::uint32_t wanted_inline = 220;

}  // namespace

lane_queues::lane_queues(const card& on)
    : card_(on), channel_(ibv_create_comp_channel(on.context())) {
  if (channel_ == nullptr)
    fail_errno(errno, "no completion channel: no descriptors left (ulimit -n)");
  ::fcntl(channel_->fd, F_SETFL, ::fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  const auto receives =
      std::min(on.chosen().receives, static_cast<std::uint32_t>(on.limits().max_srq_wr));
  const auto longest = static_cast<std::uint32_t>(on.limits().max_cqe);
  if (longest < 2 * receives)
    fail("completion queues of this card have {} entries at most", longest);
  room_ = std::min(most_room, longest - receives);
  window_ = std::min(most_window, receives / 2);
  take_doorbell();
  // And a word, or a look at a silent peer, for each inlet.
  make_completion_queue(receives + room_ + std::min(most_words, longest - receives - room_));
  ibv_srq_init_attr wanted{};
  wanted.attr.max_wr = receives;
  wanted.attr.max_sge = 1;
  srq_.reset(ibv_create_srq(on.domain(), &wanted));
  if (srq_ == nullptr) fail_errno(errno, "no shared receive queue of {} entries", receives);
  const handle<ibv_qp> probe = make_queue_pair(on.chosen().depth);
  if (probe == nullptr) fail_errno(errno, "no queue pair left");
  ibv_qp_attr a{};
  ibv_qp_init_attr got{};
  if (ibv_query_qp(probe.get(), &a, IBV_QP_CAP, &got) == 0)
    max_inline_ = std::min(wanted_inline, got.cap.max_inline_data);
}

/// One thread at a time posts and polls: whoever holds the lane. A thread domain tells that to the
/// card's library, which then takes no lock, and gives the queues a doorbell page of their own.
void lane_queues::take_doorbell() noexcept {
  ibv_td_init_attr plain{};
  thread_domain_.reset(ibv_alloc_td(card_.context(), &plain));
  if (thread_domain_ == nullptr) return;
  ibv_parent_domain_init_attr both{};
  both.pd = card_.domain();
  both.td = thread_domain_.get();
  parent_domain_.reset(ibv_alloc_parent_domain(card_.context(), &both));
  if (parent_domain_ == nullptr) thread_domain_.reset();
}

/// Without a lock where the library has such queues.
void lane_queues::make_completion_queue(std::uint32_t entries) {
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = entries;
  wanted.channel = channel_.get();
  wanted.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  wanted.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
  if (has_doorbell()) {
    wanted.comp_mask |= IBV_CQ_INIT_ATTR_MASK_PD;
    wanted.parent_domain = parent_domain_.get();
  }
  if (ibv_cq_ex* const alone = ibv_create_cq_ex(card_.context(), &wanted); alone != nullptr) {
    cq_.reset(ibv_cq_ex_to_cq(alone));
    return;
  }
  cq_.reset(ibv_create_cq(card_.context(), static_cast<int>(entries), nullptr, channel_.get(), 0));
  if (cq_ == nullptr) fail_errno(errno, "no completion queue of {} entries", entries);
}

/// With as much inline data as the card gives.
handle<ibv_qp> lane_queues::make_queue_pair(std::uint32_t depth) const noexcept {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = cq_.get();
  wanted.srq = srq_.get();
  wanted.cap.max_send_wr = depth;
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_inline_data = wanted_inline;
  wanted.qp_type = IBV_QPT_RC;
  for (;; wanted.cap.max_inline_data /= 2) {
    handle<ibv_qp> made(ibv_create_qp(domain(), &wanted));
    if (made != nullptr || wanted.cap.max_inline_data == 0) return made;
  }
}

}  // namespace heddle::transport::verbs
