// SPDX-License-Identifier: BSD-3-Clause
// verbs_calls.h - libibverbs by its calls and nothing else: what has to be there before a request
// is posted. What is made here goes with the process.
#pragma once
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::bench {

/// Bytes of a request that the card takes at once, as Heddle's queue pairs ask for.
inline constexpr std::uint32_t verbs_inlined = 220;

/// The first card, and its first port. Functions throw std::runtime_error naming the call.
struct verbs_card {
  verbs_card();
  [[nodiscard]] ibv_mr* know(std::span<std::byte> memory) const;
  [[nodiscard]] ibv_cq* make_cq(int entries) const;
  [[nodiscard]] ibv_srq* make_srq(unsigned receives) const;
  /// Reliable; its receives are those of `receives`.
  [[nodiscard]] ibv_qp* make_qp(ibv_cq* ends, ibv_srq* receives, unsigned depth) const;

  ibv_context* context;
  ibv_pd* pd;
  ibv_port_attr port{};
  ibv_gid gid{};
};

/// Where a queue pair is for its peer.
struct verbs_address {
  std::uint32_t qp = 0;
  std::uint16_t lid = 0;
  ibv_gid gid{};
};

[[nodiscard]] verbs_address address_of(const verbs_card& card, const ibv_qp* qp) noexcept;
/// `qp` may post, and is posted to, when both sides have done this.
void connect(const verbs_card& card, ibv_qp* qp, const verbs_address& peer);
/// A list of them.
void post(ibv_qp* qp, ibv_send_wr& first);
void post(ibv_srq* receives, ibv_recv_wr& first);

}  // namespace heddle::bench
