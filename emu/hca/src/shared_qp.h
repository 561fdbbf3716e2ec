// SPDX-License-Identifier: BSD-3-Clause
// shared_qp.h - a queue pair as it lies in its owner's arena: what those need who send to it.
//
// Its memory is only ever used for queue pairs, so that whoever comes too late finds a lock, and
// behind it another number.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

#include "host/shared_lock.h"
#include "place.h"
#include "shared_pipe.h"

namespace hca {

struct shared_qp {
  /// Held by whoever delivers to the queue pair, for all of a message; and by the owner to change
  /// it. So what the owner withdrew is not touched any more once it has held all of these.
  host::shared_lock responder;
  std::atomic<std::uint32_t> state;  ///< an ibv_qp_state; changed holding `responder`
  // Guarded by `responder`.
  std::uint32_t number;  ///< 0: none lies here
  std::uint32_t type;    ///< an ibv_qp_type
  std::uint32_t pd;
  std::int32_t pid;
  place at;
  std::uint8_t min_rnr_timer;
  std::uint32_t access;
  std::uint32_t qkey;
  std::uint32_t peer;  ///< QPN of the other end
  place peer_at;
  std::uint8_t reads;      ///< outstanding ones that are accepted
  std::uint64_t receives;  ///< in the arena, as is:
  std::uint64_t recv_cq;
  std::uint32_t has_srq;
  pipe_address async;
};

/// What the owner reads from its asynchronous descriptor.
struct async_record {
  std::uint32_t type;    ///< an ibv_event_type, which says what `number` is of
  std::uint32_t number;  ///< of a QP, CQ, SRQ or port
};

}  // namespace hca
