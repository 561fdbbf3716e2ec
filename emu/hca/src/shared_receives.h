// SPDX-License-Identifier: BSD-3-Clause
// shared_receives.h - posted receives, of a QP or an SRQ, as they lie in their owner's arena, where
// peers take from them.
#pragma once
#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "capacity.h"
#include "host/shared_lock.h"
#include "shared_pipe.h"

namespace hca {

/// One receive, taken out.
struct receive {
  std::uint64_t wr_id;
  std::uint32_t sges;
  std::array<ibv_sge, max_sge> sge;
};

struct shared_receives {
  host::shared_lock lock;  ///< guards all that changes
  std::uint32_t capacity, most_sges;
  std::uint32_t limit;   ///< 0: none; the owner hears when fewer are left, once
  std::uint32_t number;  ///< of the SRQ, for that
  std::int32_t pid;
  std::uint32_t pd;
  pipe_address async;
  std::uint64_t head, tail;

  [[nodiscard]] std::size_t stride() const noexcept {
    return sizeof(std::uint64_t) * 2 + most_sges * sizeof(ibv_sge);
  }
  [[nodiscard]] static std::size_t bytes(std::uint32_t capacity, std::uint32_t sges) noexcept {
    return sizeof(shared_receives) +
           capacity * (sizeof(std::uint64_t) * 2 + sges * sizeof(ibv_sge));
  }

  /// Holding the lock, all of them.
  [[nodiscard]] bool is_empty() const noexcept { return head == tail; }
  [[nodiscard]] bool is_full() const noexcept { return tail - head == capacity; }
  void push(const ibv_recv_wr& wr) noexcept;
  void pop(receive& into) noexcept;

 private:
  [[nodiscard]] std::byte* slot(std::uint64_t index) noexcept {
    return reinterpret_cast<std::byte*>(this + 1) + index % capacity * stride();
  }
};

}  // namespace hca
