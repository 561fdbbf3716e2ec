// SPDX-License-Identifier: BSD-3-Clause
// utofu_calls.cpp - creating, registering, and the end of both; taking notices and completions out
// of a VCQ's queues.
#include "libraries/utofu_calls.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

namespace heddle::bench {
namespace {

utofu_tni_id_t nth_tni(std::size_t n) {
  utofu_tni_id_t* ids = nullptr;
  std::size_t count = 0;
  require_utofu(utofu_get_onesided_tnis(&ids, &count), "utofu_get_onesided_tnis");
  const std::unique_ptr<utofu_tni_id_t[], decltype(&std::free)> owned(ids, std::free);
  if (count == 0) throw std::runtime_error("this process has no TNI");
  return ids[n % count];
}

/// That memory is registered by: two registrations that share one would be the same.
constexpr std::size_t page_bytes = 64 * 1024;

}  // namespace

void require_utofu(int code, const char* what) {
  if (code == UTOFU_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": uTofu's error " + std::to_string(code));
}

utofu_queue::utofu_queue(std::size_t n, utofu_users who) {
  unsigned long flags = UTOFU_VCQ_FLAG_EXCLUSIVE;
  if (who == utofu_users::several) flags |= UTOFU_VCQ_FLAG_THREAD_SAFE;
  require_utofu(utofu_create_vcq(nth_tni(n), flags, &handle_),
                "utofu_create_vcq (is there a CQ left?)");
}

utofu_queue::~utofu_queue() {
  utofu_free_vcq(handle_);
}

utofu_vcq_id_t utofu_queue::id() const {
  utofu_vcq_id_t id = 0;
  require_utofu(utofu_query_vcq_id(handle_, &id), "utofu_query_vcq_id");
  return id;
}

utofu_memory::utofu_memory(std::size_t bytes)
    : mapping_((std::max<std::size_t>(bytes, 1) + 2 * page_bytes - 1) / page_bytes * page_bytes) {
  void* at = mapping_.data();
  std::size_t room = mapping_.bytes();
  std::align(page_bytes, std::max<std::size_t>(bytes, 1), at, room);
  bytes_ = {static_cast<std::byte*>(at), room / page_bytes * page_bytes};
}

utofu_registration::utofu_registration(const utofu_queue& by, const utofu_memory& memory)
    : queue_(by) {
  const auto bytes = memory.bytes();
  require_utofu(utofu_reg_mem(by.handle(), bytes.data(), bytes.size(), 0, &stadd_),
                "utofu_reg_mem");
}

utofu_registration::~utofu_registration() {
  utofu_dereg_mem(queue_.handle(), stadd_, 0);
}

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
