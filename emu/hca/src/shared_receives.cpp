// SPDX-License-Identifier: BSD-3-Clause
// shared_receives.cpp - see shared_receives.h.
#include "shared_receives.h"

#include <cstring>

namespace hca {

void shared_receives::push(const ibv_recv_wr& wr) noexcept {
  std::byte* const at = slot(tail);
  const std::uint64_t sges = static_cast<std::uint32_t>(wr.num_sge);
  std::memcpy(at, &wr.wr_id, sizeof wr.wr_id);
  std::memcpy(at + 8, &sges, sizeof sges);
  if (sges != 0) std::memcpy(at + 16, wr.sg_list, sges * sizeof(ibv_sge));
  ++tail;
}

void shared_receives::pop(receive& into) noexcept {
  const std::byte* const at = slot(head);
  std::uint64_t sges = 0;
  std::memcpy(&into.wr_id, at, sizeof into.wr_id);
  std::memcpy(&sges, at + 8, sizeof sges);
  into.sges = static_cast<std::uint32_t>(sges < max_sge ? sges : max_sge);
  std::memcpy(into.sge.data(), at + 16, into.sges * sizeof(ibv_sge));
  ++head;
}

}  // namespace hca
