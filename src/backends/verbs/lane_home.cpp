// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/lane_home.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/error.h"

namespace heddle::transport::verbs {
namespace {

constexpr std::uint32_t most_room = 4096;
constexpr std::uint32_t most_words = 4096;
constexpr std::uint32_t most_window = 256;
constexpr std::uint32_t wanted_inline = 220;
/// What an inlet says itself: how far the lane is, and whether the peer lives.
constexpr std::uint32_t inlet_depth = 4;

}  // namespace

std::uint32_t fresh_psn() noexcept {
  return randombytes_random() & 0xff'ffff;
}

lane_home::lane_home(const card& on, int lane)
    : card_(on), lane_(lane), channel_(ibv_create_comp_channel(on.context())) {
  if (channel_ == nullptr)
    fail_errno(errno, "no completion channel: no descriptors left (ulimit -n)");
  ::fcntl(channel_->fd, F_SETFL, ::fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  bell_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell_) fail_errno(errno, "no descriptors left (ulimit -n)");
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
void lane_home::take_doorbell() noexcept {
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
void lane_home::make_completion_queue(std::uint32_t entries) {
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
handle<ibv_qp> lane_home::make_queue_pair(std::uint32_t depth) const noexcept {
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

bool lane_home::open(inlet& made, const hello& ask, const peer_facts& peer) const noexcept {
  made.from = ask.from;
  made.lane = ask.from_lane;
  made.stream = ask.stream;
  made.their_qpn = ask.end.qpn;
  made.our_psn = fresh_psn();
  made.qp = make_queue_pair(inlet_depth);
  return made.qp != nullptr && card_.prepare(made.qp.get()) == 0 &&
         card_.connect(made.qp.get(), peer.place, ask.end, made.our_psn) == 0;
}

hello refusal_of(const hello& ask) noexcept {
  hello answer = ask;
  answer.kind = hello::kind_t::refuse;
  std::swap(answer.from, answer.to);
  std::swap(answer.from_nonce, answer.to_nonce);
  return answer;
}

hello lane_home::admit(const hello& ask, const peer_facts& peer) {
  hello answer = refusal_of(ask);
  const std::scoped_lock lock(mutex_);
  inlet* found = nullptr;
  std::unique_ptr<inlet>* free_place = nullptr;
  for (auto& i : inlets_) {
    if (i->from != ask.from || i->lane != ask.from_lane) continue;
    // A copy that comes late, of before the stream began anew.
    if (static_cast<std::int32_t>(ask.question - i->question) < 0) return answer;
    if (i->let_go) free_place = &i;
  }
  for (const auto& i : inlets_) {
    if (i->from != ask.from || i->lane != ask.from_lane || i->replaced.is_set()) continue;
    if (i->their_qpn == ask.end.qpn && i->stream == ask.stream) {
      found = i.get();
      break;
    }
    i->replaced.set();
    replaced_here_.set();
  }
  if (found == nullptr) {
    auto made = std::make_unique<inlet>();
    if (free_place == nullptr) free_place = &inlets_.emplace_back();
    found = (*free_place = std::move(made)).get();
    found->number = static_cast<std::uint32_t>(free_place - inlets_.data());
    found->question = ask.question;
    if (!open(*found, ask, peer)) {
      found->replaced.set();  // the lane's thread ends what was made of it
      replaced_here_.set();
      return answer;
    }
  }
  found->question = ask.question;
  answer.kind = hello::kind_t::answer;
  answer.inlet = found->number;
  answer.window = window_;
  answer.end = {found->qp->qp_num, found->our_psn};
  return answer;
}

inlet* lane_home::look_for(std::uint32_t number) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    seen_.resize(inlets_.size());
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  for (std::size_t n = 0; n < seen_.size(); ++n)
    seen_[n] = inlets_[n]->let_go ? nullptr : inlets_[n].get();
  return number < seen_.size() ? seen_[number] : nullptr;
}

void lane_home::put(letter l) {
  {
    const std::scoped_lock lock(mutex_);
    letters_.push_back(l);
    letters_here_.set();
  }
  (void)::eventfd_write(bell_.get(), 1);
}

std::vector<letter> lane_home::take_letters() noexcept {
  eventfd_t count = 0;
  (void)::eventfd_read(bell_.get(), &count);
  const std::scoped_lock lock(mutex_);
  letters_here_.clear();
  return std::exchange(letters_, {});
}

void lane_home::note_those_replaced() noexcept {
  for (inlet* const i : all())
    if (i != nullptr) i->ends = i->replaced.is_set() && i->qp != nullptr;
  some_end_ = true;
}

void lane_home::let_go_of_closed() noexcept {
  some_closed_ = false;
  const std::scoped_lock lock(mutex_);
  for (inlet*& i : seen_) {
    if (i == nullptr || !i->replaced.is_set() || i->qp != nullptr) continue;
    i->let_go = true;
    i = nullptr;
  }
}

void lane_home::end_those_noted() noexcept {
  some_end_ = false;
  for (inlet* const i : all())
    if (i != nullptr && std::exchange(i->ends, false)) i->qp.reset();
  some_closed_ = true;
}

}  // namespace heddle::transport::verbs
