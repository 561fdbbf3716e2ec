// SPDX-License-Identifier: BSD-3-Clause
// utofu_path.cpp - taking notices and completions out of a VCQ's queues.
#include "libraries/utofu_path.h"

namespace heddle::bench {

utofu_path::utofu_path(std::size_t n, int threads, const utofu_memory& table)
    : threads_(threads),
      queue_(n, threads > 1 ? utofu_users::several : utofu_users::one),
      table_(queue_, table),
      accounts_(std::make_unique<utofu_account[]>(most_threads)) {}

bool utofu_path::take_notice() {
  utofu_mrq_notice notice;
  const int code = utofu_poll_mrq(queue_.handle(), 0, &notice);
  if (code == UTOFU_ERR_NOT_FOUND) return false;
  require_utofu(code, "utofu_poll_mrq");
  utofu_account& of = accounts_[notice.edata % most_threads];
  switch (notice.notice_type) {
    case UTOFU_MRQ_TYPE_RMT_PUT:
      count(of.arrived);
      break;
    case UTOFU_MRQ_TYPE_LCL_ARMW:
      of.value.store(notice.rmt_value, std::memory_order_relaxed);  // relaxed: published by R1
      [[fallthrough]];
    default:
      count(of.ended);
  }
  return true;
}

/// A thread that has the path to itself counts without an atomic read-modify-write.
void utofu_path::count(std::atomic<std::uint64_t>& of) const noexcept {
  if (threads_ > 1) {
    of.fetch_add(1, std::memory_order_release);  // R1
  } else {
    of.store(of.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // R1
  }
}

void utofu_path::reclaim() {
  void* which = nullptr;
  for (;;) {
    const int code = utofu_poll_tcq(queue_.handle(), 0, &which);
    if (code == UTOFU_ERR_NOT_FOUND) return;
    require_utofu(code, "utofu_poll_tcq");
  }
}

}  // namespace heddle::bench
