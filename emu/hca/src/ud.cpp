// SPDX-License-Identifier: BSD-3-Clause
// ud.cpp - requester's part for datagrams: one message, delivered if somebody is there who wants
// it.
#include <endian.h>

#include <array>
#include <cstring>

#include "requester.h"

namespace hca {

namespace {

constexpr std::uint32_t multicast_qpn = 0xff'ffff;
constexpr std::uint32_t own_qkey_bit = 1u << 31;  ///< "take the queue pair's own"

}  // namespace

/// The global route header that a receiver finds before the data.
void requester::make_grh(std::byte* into) const noexcept {
  const ibv_ah_attr& to = qp_.sends_.front().to;
  std::memset(into, 0, grh_bytes);
  if (to.is_global == 0) return;
  ibv_grh grh{};
  grh.version_tclass_flow = htobe32(6u << 28 | std::uint32_t{to.grh.traffic_class} << 20 |
                                    (to.grh.flow_label & 0xf'ffff));
  grh.paylen = htobe16(static_cast<std::uint16_t>(data_.bytes()));
  grh.next_hdr = 0x1b;
  grh.hop_limit = to.grh.hop_limit;
  grh.sgid = gid_of(qp_.shared_->at, to.grh.sgid_index);
  grh.dgid = to.grh.dgid;
  std::memcpy(into, &grh, grh_bytes);
}

void requester::send_datagram(std::uint32_t number, const place& at) noexcept {
  const work& w = qp_.sends_.front();
  const target found = find(number);
  if (found.qp == nullptr) return;
  delivery to(us_, *found.who, *found.qp);
  const std::uint32_t qkey = (w.remote_qkey & own_qkey_bit) != 0 ? qp_.attr_.qkey : w.remote_qkey;
  const ibv_qp_state state = to.state();
  if (to.to().number != number || !us_.fabric().is_up(at) || !us_.fabric().is_up(qp_.shared_->at) ||
      to.to().type != IBV_QPT_UD || to.to().at != at || to.to().qkey != qkey ||
      (state != IBV_QPS_RTR && state != IBV_QPS_RTS))
    return;
  receive into;
  if (!to.take(into)) return;
  std::array<std::byte, grh_bytes> grh;
  make_grh(grh.data());
  pieces message, far;
  message.add(reinterpret_cast<std::uint64_t>(grh.data()), grh.size());
  for (std::size_t i = 0; i < data_.size(); ++i)
    message.add(reinterpret_cast<std::uint64_t>(data_.data()[i].iov_base), data_.data()[i].iov_len);
  const ibv_wc_status placed = to.place(into, message.bytes(), far);
  if (placed != IBV_WC_SUCCESS) {
    to.complete(failed_completion(into.wr_id, placed, number, true));
    to.fail(std::nullopt);
    return;
  }
  if (write_far(to.memory(), far, message) != 0) return;
  completion c = arrived(into, IBV_WC_RECV);
  c.entry.wc.qp_num = number;
  c.entry.wc.byte_len += grh_bytes;
  if (w.to.is_global != 0) c.entry.wc.wc_flags |= IBV_WC_GRH;
  c.entry.wc.sl = w.to.sl;
  to.complete(c);
}

void requester::send_to_group(const union ibv_gid& gid) noexcept {
  std::array<std::uint64_t, 2> wanted{};
  std::memcpy(wanted.data(), gid.raw, sizeof gid.raw);
  for (group_entry& g : us_.fabric().file().groups) {
    // Relaxed, all: whether who joins or leaves meanwhile gets the message is open.
    if (g.gid[0].load(std::memory_order_relaxed) != wanted[0] ||
        g.gid[1].load(std::memory_order_relaxed) != wanted[1])
      continue;
    for (const auto& member : g.members) {
      const std::uint32_t number = member.load(std::memory_order_relaxed);
      const target found = find(number);
      if (found.qp != nullptr && number != qp_.number()) send_datagram(number, found.qp->at);
    }
  }
}

outcome requester::execute_ud() noexcept {
  const work& w = qp_.sends_.front();
  if (w.opcode != IBV_WR_SEND && w.opcode != IBV_WR_SEND_WITH_IMM)
    return {outcome::done, IBV_WC_LOC_QP_OP_ERR, 0, 0};
  if (data_.bytes() > mtu_bytes) return {outcome::done, IBV_WC_LOC_LEN_ERR, 0, 0};
  if (w.to.is_global != 0 && w.to.grh.dgid.raw[0] == 0xff && w.remote_qpn == multicast_qpn) {
    send_to_group(w.to.grh.dgid);
  } else if (const auto at = find_place(w.to, us_.link())) {
    send_datagram(w.remote_qpn, *at);
  }
  return {};
}

}  // namespace hca
