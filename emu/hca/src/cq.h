// SPDX-License-Identifier: BSD-3-Clause
// cq.h - a completion queue as its owner sees it.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "cq_events.h"
#include "domain.h"
#include "handle.h"
#include "process.h"
#include "shared_cq.h"

namespace hca {

class context;

/// A completion channel.
struct channel {
  handle<ibv_comp_channel, channel> api;
  shared_pipe pipe;
  std::atomic<unsigned> users{0};
};

class cq {
 public:
  /// Throws std::bad_alloc where the arena is full.
  cq(process& us, context& on, const ibv_cq_init_attr_ex& how, pipe_address async);
  ~cq();
  cq(const cq&) = delete;
  cq& operator=(const cq&) = delete;
  static cq& of(ibv_cq* api) noexcept { return object_of<cq, ibv_cq_ex>(api); }
  static cq& of(ibv_cq_ex* api) noexcept { return object_of<cq, ibv_cq_ex>(api); }

  [[nodiscard]] ibv_cq_ex* api() noexcept { return &handle_.api; }
  [[nodiscard]] std::uint32_t number() const noexcept { return shared_->number; }
  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }
  [[nodiscard]] shared_cq& shared() noexcept { return *shared_; }
  [[nodiscard]] context& on() noexcept { return on_; }
  [[nodiscard]] cq_events& events() noexcept { return events_; }

  /// As ibv_poll_cq: how many, or -1 once the queue was overrun and what it held is read.
  int poll(int most, ibv_wc* into) noexcept;
  void arm(bool solicited_only) noexcept;
  /// 0 or an errno. Keeps what was not polled. EINVAL: that would not fit, or the queue would be
  /// larger than it was made.
  int resize(std::uint32_t capacity);
  /// Takes out what a queue pair left that is being destroyed or reset.
  void remove_all_of(std::uint32_t qp_num) noexcept;

  /// The extended interface. 0, or ENOENT: empty; the lock is held until end_poll() if 0.
  int start_poll() noexcept;
  int next_poll() noexcept;
  void end_poll() noexcept { mutex_.unlock(); }
  [[nodiscard]] const cqe& now() const noexcept { return now_; }

  std::atomic<unsigned> users{0};  ///< queue pairs that complete here

 private:
  bool take(cqe& into) noexcept;
  int take_some(int most, ibv_wc* into) noexcept;
  void free_slots(const cqe& polled) noexcept;
  void progress() noexcept;

  handle<ibv_cq_ex, cq> handle_;
  cq_events events_{handle_.api};
  process& us_;
  context& on_;
  std::uint64_t at_ = 0;
  std::uint32_t bytes_capacity_ = 0;
  shared_cq* shared_ = nullptr;
  channel* const channel_;
  thread_domain* td_ = nullptr;  ///< of a single-threaded queue
  std::mutex mutex_;             // held to poll, but by ibv_poll_cq under a thread domain
  cqe now_{};
};

/// Fills in the functions of the extended interface.
void set_extended_functions(ibv_cq_ex& api) noexcept;

}  // namespace hca
