// SPDX-License-Identifier: BSD-3-Clause
// shared_cq.h - a completion queue as it lies in its owner's arena, where peers add to it.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "host/shared_lock.h"
#include "shared_pipe.h"

namespace hca {

struct cqe {
  ibv_wc wc;
  std::uint64_t slots;  ///< the send queue's slots up to this one are free once this was polled
  std::uint64_t time_ns;
};

enum class arming : std::uint32_t { none, solicited, any };

/// What the owner reads from its completion channel: which CQ.
struct completion_event {
  std::uint64_t cq;
};

struct shared_cq {
  host::shared_lock producers;  ///< held to add
  std::uint32_t capacity;       ///< a power of two is not needed
  std::uint32_t number;
  std::int32_t pid;
  std::uint32_t ignores_overrun;
  pipe_address channel, async;
  std::uint32_t armed;  ///< an `arming`; guarded by `producers`
  std::atomic<std::uint32_t> overrun;
  alignas(64) std::atomic<std::uint64_t> tail;  ///< written by producers
  alignas(64) std::atomic<std::uint64_t> head;  ///< written by the owner

  [[nodiscard]] cqe* entries() noexcept { return reinterpret_cast<cqe*>(this + 1); }
  [[nodiscard]] static std::size_t bytes(std::uint32_t capacity) noexcept {
    return sizeof(shared_cq) + capacity * sizeof(cqe);
  }
};

}  // namespace hca
