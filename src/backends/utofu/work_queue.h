// SPDX-License-Identifier: BSD-3-Clause
// work_queue.h - what a lane has posted to its VCQ: work requests alone or as one list, how many
// notices they may still bring, and what has left.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/utofu/names.h"
#include "backends/utofu/notice_window.h"
#include "backends/utofu/vcq.h"
#include "backends/utofu/work_request.h"

namespace heddle::transport::utofu {

/// Posted together at most, and what one work request takes at most.
inline constexpr std::size_t max_list = 32;
inline constexpr std::size_t max_work_request_bytes = 64;

class work_queue {
 public:
  /// `window`: of its notices.
  work_queue(const vcq& on, std::size_t window);

  [[nodiscard]] notice_window& window() noexcept { return window_; }

  // --- posting. done, busy_queue, or why it can never be posted

  // `make` makes the work request, again when it does not go at once: one that does is never built
  // in memory, only handed over in registers.

  /// A work request whose end nobody waits for.
  template <class Make>
  [[nodiscard, gnu::always_inline]] status submit(Make make) noexcept {
    if (!listing_) [[likely]] {
      const int code = issue(handle_, make());
      if (code == UTOFU_SUCCESS) [[likely]]
        return status::done;
      if (code != UTOFU_ERR_BUSY) return status_of(code);
    }
    const work_request c = make();
    return submit_slowly(c);
  }
  /// An operation to this VCQ, whose notice end() finds. `name`: the queue that its form belongs
  /// to. Throws std::bad_alloc.
  template <class Make>
  [[nodiscard, gnu::always_inline]] status submit(Make make, remote_vcq& to, queue_name name,
                                                  pending what) {
    pending_queue& queue = to.queue(name);
    queue.reserve();
    const std::uint64_t position = queue.position();
    const status s = submit([&] {
      work_request c = make();
      c.to = to.with_path;
      c.edata = static_cast<std::uint8_t>(position % edata_numbers);
      c.flags |= UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
      c.cookie = cookie_of_pending(to.index, name, position);
      return c;
    });
    if (s == status::done) [[likely]] {
      queue.push(what);
      window_.open();
    }
    return s;
  }
  /// A message, behind which `position` of the send buffer has left: drain() shall hear of it.
  static void ask_for_departure(work_request& c, std::uint64_t position) noexcept {
    c.flags |= UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
    c.cookie = position << 1 | 1;
  }
  /// The same without a message.
  [[nodiscard]] bool ask_for_departure(std::uint64_t position) noexcept;

  // --- lists: from open_list() on work requests are gathered; of a list all is posted, or nothing

  [[nodiscard]] bool listing() const noexcept { return listing_; }
  void open_list() noexcept;
  [[nodiscard]] status close_list() noexcept;
  /// Takes the last one to this VCQ back, which was not posted after all.
  pending take_back(remote_vcq& to, queue_name name) noexcept {
    window_.close();
    return to.queue(name).unpush();
  }

  // --- ends

  /// The operation of a notice, or nothing.
  [[nodiscard]] pending end(remote_vcq& to, queue_name name, std::uint64_t edata) noexcept {
    return counted(to.queue(name).take(edata));
  }
  /// Any that is under way to this VCQ, the oldest of its kind; nothing: none is.
  [[nodiscard]] pending end_oldest(remote_vcq& to) noexcept;
  /// Looks at what has left: only this frees the places of the hardware's queue.
  void drain() noexcept;
  /// How many departures drain() has heard of, and up to where the send buffer has left.
  [[nodiscard]] std::uint64_t departures() const noexcept { return departures_; }
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  /// The next work request that could not leave, so that no notice follows: its VCQ, and what it
  /// was.
  struct failure {
    std::size_t index = 0;
    queue_name name = queue_name::puts;
    std::uint64_t position = 0;
    int code = UTOFU_SUCCESS;
  };
  [[nodiscard]] bool next_failure(failure& out) noexcept;
  [[nodiscard]] pending end(remote_vcq& to, const failure& f) noexcept;
  /// The hardware has given up the queue.
  [[nodiscard]] bool dead() const noexcept { return dead_; }

 private:
  static constexpr unsigned index_bits = 21;
  static constexpr unsigned position_shift = index_bits + 3;
  [[nodiscard]] static std::uint64_t cookie_of_pending(std::size_t index, queue_name name,
                                                       std::uint64_t position) noexcept {
    return position << position_shift | index << 3 | static_cast<std::uint64_t>(name) << 1;
  }
  [[nodiscard]] pending counted(pending p) noexcept {
    if (p) [[likely]]
      window_.close();
    return p;
  }
  [[nodiscard, gnu::noinline]] status submit_slowly(const work_request& c) noexcept;
  [[nodiscard]] int add(const work_request& c) noexcept;

  const utofu_vcq_hdl_t handle_;
  notice_window window_;
  std::uint64_t departures_ = 0, left_ = 0;
  bool listing_ = false;
  bool dead_ = false;
  std::size_t list_bytes_ = 0;
  std::array<std::byte, max_list * max_work_request_bytes> list_;
  std::vector<failure> failures_;  // never grows: what it has no room for stays in the hardware's
};

}  // namespace heddle::transport::utofu
