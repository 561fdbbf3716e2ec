// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/incoming_messages.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "backends/verbs/work_list.h"

namespace heddle::transport::verbs {
namespace {

constexpr std::size_t offers_at_once = 64;

std::size_t buffers_of(const card& on) {
  return std::min<std::size_t>(on.chosen().receives,
                               static_cast<std::size_t>(on.limits().max_srq_wr));
}

}  // namespace

incoming_messages::incoming_messages(const lane_queues& queues, inlets& ends, peers& known,
                                     outbox& events)
    : queues_(queues),
      inlets_(ends),
      peers_(known),
      events_(events),
      buffers_(queues.on(), buffers_of(queues.on()), parcel::most_bytes),
      offers_(offers_at_once),
      places_(offers_at_once) {
  const auto count = static_cast<std::uint32_t>(buffers_.free());
  used_.reserve(count);
  heard_.reserve(count);
  for (std::uint32_t n = 0; n < count; ++n) used_.push_back(n);
  offer();
}

/// All that are used, in lists.
void incoming_messages::offer() noexcept {
  while (!used_.empty()) {
    const std::size_t count = std::min(used_.size(), offers_at_once);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t buffer = used_[used_.size() - 1 - i];
      places_[i] = {reinterpret_cast<std::uint64_t>(buffers_.at(buffer)), parcel::most_bytes,
                    buffers_.key()};
      offers_[i] = {};
      offers_[i].wr_id = work_id(work_id::kind_t::arrival, 0, 0, buffer).bits();
      offers_[i].sg_list = &places_[i];
      offers_[i].num_sge = 1;
      offers_[i].next = i + 1 < count ? &offers_[i + 1] : nullptr;
    }
    ibv_recv_wr* refused = nullptr;
    if (ibv_post_srq_recv(queues_.srq(), offers_.data(), &refused) != 0) {
      used_.resize(used_.size() - static_cast<std::size_t>(refused - offers_.data()));
      return;  // the rest the next time
    }
    used_.resize(used_.size() - count);
  }
}

void incoming_messages::count_heard() noexcept {
  for (inlet* const i : heard_) {
    ++i->taken;
    tell(*i);
  }
  heard_.clear();
}

/// How far the lane is, when that is news to the peer that it needs.
void incoming_messages::tell(inlet& to) noexcept {
  if (to.taken - to.told < queues_.window() / 2 || to.speaking || to.replaced.is_set()) return;
  if (say(to, true)) to.told = to.taken;
}

/// A word for the stream of this inlet, or nothing, which fails when the peer is gone.
bool incoming_messages::say(inlet& to, bool how_far) noexcept {
  if (to.qp == nullptr) return false;
  ibv_sge part{reinterpret_cast<std::uint64_t>(&to.taken), sizeof to.taken, 0};
  ibv_send_wr w{}, *refused = nullptr;
  w.wr_id = work_id(work_id::kind_t::word, 0, to.number, 0).bits();
  w.send_flags = IBV_SEND_SIGNALED;
  w.opcode = IBV_WR_RDMA_WRITE;  // of no bytes
  if (how_far) {
    w.opcode = IBV_WR_SEND_WITH_IMM;
    w.send_flags |= IBV_SEND_INLINE;
    w.sg_list = &part;
    w.num_sge = 1;
    w.imm_data = htonl(word_bit | to.stream);
  }
  to.speaking = ibv_post_send(to.qp.get(), &w, &refused) == 0;
  return to.speaking;
}

void incoming_messages::on_said(const ibv_wc& c) noexcept {
  inlet* const i = inlets_.find(work_id(c.wr_id).number());
  if (i == nullptr) return;
  i->speaking = false;
  if (c.status == IBV_WC_SUCCESS) return tell(*i);
  // The peer's card may have ended the queue pair after an operation that it has refused: the
  // stream begins anew then. Only silence means that it is gone.
  if (c.status != IBV_WC_RETRY_EXC_ERR || i->replaced.is_set()) return;
  if (peer_lane* const p = peers_.find(i->from, i->lane); p != nullptr) peers_.lose(*p, silent);
}

void incoming_messages::take(const ibv_wc& c) noexcept {
  const std::uint32_t buffer = work_id(c.wr_id).position();
  inlet* const from = comes_with(c);
  if (from == nullptr) return used_.push_back(buffer);
  opened_ = {from, buffer, parcel({buffers_.at(buffer), c.byte_len})};
  go_on();
}

/// The inlet that messages have come to; null: they are none.
inlet* incoming_messages::comes_with(const ibv_wc& c) noexcept {
  if (c.status != IBV_WC_SUCCESS || (c.wc_flags & IBV_WC_WITH_IMM) == 0) return nullptr;
  const std::uint32_t about = ntohl(c.imm_data);
  if ((about & word_bit) != 0) {
    on_word(c, about & ~word_bit);
    return nullptr;
  }
  inlet* const from = inlets_.find(about);
  return from != nullptr && from->qp != nullptr && from->qp->qp_num == c.qp_num ? from : nullptr;
}

void incoming_messages::tell_messages() noexcept {
  inlet& from = *opened_.from;
  if (from.known_as == nullptr) from.known_as = peers_.find(from.from, from.lane);
  auto* const p = static_cast<peer_lane*>(from.known_as);
  parcel rest = opened_.rest;
  const bool taken = p != nullptr && !p->lost;
  while (!rest.empty() && !events_.full()) {
    const std::span<const std::byte> message = rest.next();
    if (taken && message.size() >= sizeof(message_head)) events_.arrived(*p, message);
  }
  opened_.rest = rest;
  if (!rest.empty()) return;
  used_.push_back(opened_.buffer);
  heard_.push_back(&from);
  opened_.from = nullptr;
}

/// A peer's lane has taken so many of a stream's messages.
void incoming_messages::on_word(const ibv_wc& c, std::uint32_t about) noexcept {
  peer_lane* const p = peers_.at(about);
  const std::byte* const said = buffers_.at(work_id(c.wr_id).position());
  if (p == nullptr || p->out.qp == nullptr || p->out.qp->qp_num != c.qp_num) return;
  std::uint32_t taken = 0;
  if (c.byte_len != sizeof taken) return;
  std::memcpy(&taken, said, sizeof taken);
  (void)p->out.window.on_taken(taken);
}

void incoming_messages::probe_some() noexcept {
  const auto all = inlets_.all();
  std::size_t turns = 0;
  for (std::size_t n = 0; n < all.size() && turns < probes_per_turn; ++n) {
    inlet* const i = all[next_probe_++ % all.size()];
    if (i == nullptr || i->replaced.is_set()) continue;
    ++turns;
    // Until something has come, the peer may not have read the answer that it needs to be reached:
    // it computes, perhaps for long.
    const bool is_reached = i->known_as != nullptr;
    if (is_reached && !i->speaking) (void)say(*i, false);
  }
}

}  // namespace heddle::transport::verbs
