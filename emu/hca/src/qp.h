// SPDX-License-Identifier: BSD-3-Clause
// qp.h - a queue pair as its owner sees it: posting, changing its state, and executing what was
// posted. What a work request does is in rc.cpp and ud.cpp.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cq.h"
#include "delivery.h"
#include "domain.h"
#include "handle.h"
#include "receives.h"
#include "send_queue.h"

namespace hca {

/// What became of a work request.
struct outcome {
  /// gone: the peer's queue pair, or its process. It is as silent as one that is not ready.
  enum kind_of { done, no_receive, not_ready, gone } kind = done;
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t bytes = 0;  ///< read, for its completion
  std::uint8_t rnr_timer = 0;
};

struct progress {
  bool moved = false, waits = false;
};

/// Bytes that a write has reported and not yet written: only in chaos.
struct late_write {
  std::uint32_t rkey;
  std::uint64_t address;
  std::vector<std::byte> data;
};

class qp : public std::enable_shared_from_this<qp> {
 public:
  /// Throws std::bad_alloc where the arena or the fabric is full.
  qp(process& us, context& on, const ibv_qp_init_attr_ex& how);
  ~qp();
  qp(const qp&) = delete;
  qp& operator=(const qp&) = delete;
  static qp& of(ibv_qp* api) noexcept { return object_of<qp, ibv_qp_ex>(api); }
  static qp& of(ibv_qp_ex* api) noexcept { return object_of<qp, ibv_qp_ex>(api); }

  [[nodiscard]] ibv_qp_ex* api() noexcept { return &handle_.api; }
  [[nodiscard]] std::uint32_t number() const noexcept { return handle_.api.qp_base.qp_num; }
  [[nodiscard]] context& on() noexcept { return on_; }
  [[nodiscard]] shared_qp& shared() noexcept { return *shared_; }
  [[nodiscard]] const ibv_qp_init_attr_ex& made() const noexcept { return how_; }

  /// As the functions of libibverbs: 0 or an errno, the first refused one in `bad`.
  int post_send(ibv_send_wr* list, ibv_send_wr** bad) noexcept;
  int post_recv(ibv_recv_wr* list, ibv_recv_wr** bad) noexcept;
  int modify(const ibv_qp_attr& to, int mask);
  void query(ibv_qp_attr& into) noexcept;

  /// The ibv_wr_* calls between start and complete: the lock is held.
  void begin_list() noexcept;
  int add_to_list(const ibv_send_wr& wr) noexcept;
  void end_list(bool keep) noexcept;

  /// Executes what can be executed. Any thread.
  progress drive() noexcept;
  /// The program has polled a completion.
  void free_slots(std::uint64_t up_to) noexcept { sends_.free_up_to(up_to); }
  /// Nobody finds it any more, and nothing of it is left in its CQs. Before it is destroyed.
  void withdraw() noexcept;

 private:
  friend class requester;
  int accept(const ibv_send_wr& wr) noexcept;
  int check(const ibv_send_wr& wr) const noexcept;
  bool copy_inline(const ibv_send_wr& wr, work& into) noexcept;
  void posted() noexcept;
  progress drive_locked() noexcept;
  bool step() noexcept;
  bool wait_or_give_up(const outcome& what, outcome& verdict) noexcept;
  void retire(const outcome& what) noexcept;
  void fail() noexcept;
  void set_attributes(const ibv_qp_attr& to, int mask) noexcept;
  int change_state(ibv_qp_state to);
  void reset() noexcept;
  [[nodiscard]] ibv_qp_state state() const noexcept {
    // A1 pairs with R1 in delivery::fail().
    return static_cast<ibv_qp_state>(shared_->state.load(std::memory_order_acquire));
  }

  handle<ibv_qp_ex, qp> handle_;
  process& us_;
  context& on_;
  ibv_qp_init_attr_ex how_;
  cq& send_cq_;
  cq& recv_cq_;
  domain& pd_;
  thread_domain* const td_;
  std::uint64_t at_ = 0;
  shared_qp* shared_ = nullptr;
  std::shared_ptr<peer> self_;
  std::unique_ptr<receives> own_receives_;
  srq* srq_ = nullptr;

  std::mutex mutex_;  // guards all below
  send_queue sends_;
  ibv_qp_attr attr_{};
  std::uint64_t list_begin_ = 0;
  std::uint64_t waits_since_ns_ = 0;  // 0: the front does not wait
  std::vector<late_write> late_;
  bool withdrawn_ = false;
};

/// Fills in the ibv_wr_* functions.
void set_wr_functions(ibv_qp_ex& api) noexcept;

}  // namespace hca
