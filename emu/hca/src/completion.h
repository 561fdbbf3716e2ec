// SPDX-License-Identifier: BSD-3-Clause
// completion.h - adding to a completion queue, one's own or a peer's, and waking who waits for it.
#pragma once
#include <cstdint>

#include "process.h"
#include "shared_cq.h"

namespace hca {

/// What completions look like.
struct completion {
  cqe entry{};
  bool solicited = false;  ///< or an error: wakes those that asked for these only
};

/// False: the queue is full. It is broken then, and its owner has heard of it.
bool add_completion(process& us, shared_cq& to, const completion& what) noexcept;

/// A completion with an error. What is not valid then is filled with what misleads.
[[nodiscard]] completion failed_completion(std::uint64_t wr_id, ibv_wc_status status,
                                           std::uint32_t qp_num, bool is_receive) noexcept;

}  // namespace hca
