// SPDX-License-Identifier: BSD-3-Clause
// receives.h - posted receives as their owner sees them: those of a queue pair, and an SRQ.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

#include "domain.h"
#include "handle.h"
#include "process.h"
#include "shared_receives.h"

namespace hca {

class receives {
 public:
  /// Throws std::bad_alloc where the arena is full.
  receives(process& us, std::uint32_t capacity, std::uint32_t sges, std::uint32_t pd);
  ~receives();
  receives(const receives&) = delete;
  receives& operator=(const receives&) = delete;

  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }
  [[nodiscard]] shared_receives& shared() noexcept { return *shared_; }
  /// 0; EINVAL: more pieces than the queue takes; ENOMEM: full. `bad`: the first refused one.
  int post(ibv_recv_wr* list, ibv_recv_wr** bad) noexcept;
  void clear() noexcept;
  /// 0: no limit.
  void set_limit(std::uint32_t limit) noexcept;

 private:
  process& us_;
  std::uint64_t at_ = 0;
  shared_receives* shared_ = nullptr;
};

class context;

/// A shared receive queue.
struct srq {
  srq(process& from, context& where, ibv_pd* under, const ibv_srq_attr& how);
  static srq& of(ibv_srq* api) noexcept { return object_of<srq, ibv_srq>(api); }

  handle<ibv_srq, srq> api;
  context& on;
  receives queue;
  std::atomic<unsigned> users{0};  ///< queue pairs that take from it
};

}  // namespace hca
