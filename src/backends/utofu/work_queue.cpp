// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/work_queue.h"

namespace heddle::transport::utofu {
namespace {

status status_of_post(int code) noexcept {
  return code == UTOFU_ERR_BUSY ? status::busy_queue : status_of(code);
}

}  // namespace

work_queue::work_queue(const vcq& on, std::size_t window) : handle_(on.handle()), window_(window) {
  failures_.reserve(max_list);
}

/// Into the list; or the queue was full, and has room again when it is looked at.
status work_queue::submit_slowly(const work_request& c) noexcept {
  if (listing_) return status_of_post(add(c));
  drain();
  return status_of_post(issue(handle_, c));
}

bool work_queue::ask_for_departure(std::uint64_t position) noexcept {
  void* const cookie = reinterpret_cast<void*>(position << 1 | 1);  // NOLINT: a number
  return utofu_nop(handle_, UTOFU_ONESIDED_FLAG_TCQ_NOTICE, cookie) == UTOFU_SUCCESS;
}

void work_queue::open_list() noexcept {
  listing_ = true;
  list_bytes_ = 0;
}

int work_queue::add(const work_request& c) noexcept {
  if (list_.size() - list_bytes_ < max_work_request_bytes) return UTOFU_ERR_BUSY;
  std::size_t size = 0;
  const int code = prepare(handle_, c, list_.data() + list_bytes_, size);
  if (code != UTOFU_SUCCESS) return code;
  list_bytes_ += size;
  return code;
}

status work_queue::close_list() noexcept {
  listing_ = false;
  if (list_bytes_ == 0) return status::done;
  const int code = utofu_post_toq(handle_, list_.data(), list_bytes_, nullptr);
  if (code == UTOFU_ERR_BUSY) drain();
  return status_of_post(code);
}

pending work_queue::end_oldest(remote_vcq& to) noexcept {
  for (pending_queue& queue : to.queues)
    if (!queue.empty()) return counted(queue.take_oldest());
  return {};
}

void work_queue::drain() noexcept {
  void* returned = nullptr;
  while (!dead_ && failures_.size() < failures_.capacity()) {
    const int code = utofu_poll_tcq(handle_, 0, &returned);
    dead_ = code == UTOFU_ERR_FATAL;
    if (dead_ || code == UTOFU_ERR_NOT_FOUND || code == UTOFU_ERR_BUSY) return;
    const std::uint64_t cookie = reinterpret_cast<std::uintptr_t>(returned);
    if ((cookie & 1) != 0) {
      left_ = cookie >> 1;
      ++departures_;
    } else if (code != UTOFU_SUCCESS && cookie != 0) {
      const std::uint64_t index = cookie >> 3 & ((std::uint64_t{1} << index_bits) - 1);
      failures_.push_back({static_cast<std::size_t>(index),
                           static_cast<queue_name>(cookie >> 1 & 3), cookie >> position_shift,
                           code});
    }
  }
}

bool work_queue::next_failure(failure& out) noexcept {
  if (failures_.empty()) return false;
  out = failures_.front();
  failures_.erase(failures_.begin());
  return true;
}

pending work_queue::end(remote_vcq& to, const failure& f) noexcept {
  return counted(to.queue(f.name).take_at(f.position));
}

}  // namespace heddle::transport::utofu
