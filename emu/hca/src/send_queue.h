// SPDX-License-Identifier: BSD-3-Clause
// send_queue.h - the work requests that were posted to a queue pair, copied as hardware copies
// them.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hca {

/// A work request without its data.
struct work {
  std::uint64_t wr_id;
  ibv_wr_opcode opcode;
  unsigned flags;  ///< IBV_SEND_*
  std::uint32_t imm;
  std::uint64_t remote_addr;
  std::uint32_t rkey;
  std::uint64_t compare_add, swap;
  ibv_ah_attr to;  ///< UD
  std::uint32_t remote_qpn, remote_qkey;
  std::uint32_t sges, inline_bytes;
};

/// A ring. A slot is taken by posting and free again once the program has polled a completion of it
/// or of a later one. Guarded by the queue pair's lock, but for free_up_to().
class send_queue {
 public:
  send_queue(std::uint32_t depth, std::uint32_t most_sges, std::uint32_t most_inline)
      : depth_(depth),
        most_sges_(most_sges),
        most_inline_(most_inline),
        works_(depth),
        sges_(std::size_t{depth} * most_sges),
        inline_(std::size_t{depth} * most_inline) {}

  [[nodiscard]] bool is_full() const noexcept {
    // A1 pairs with R1: who posts after polling finds the slots that polling freed.
    return posted_ - freed_.load(std::memory_order_acquire) >= depth_;
  }
  [[nodiscard]] bool is_idle() const noexcept { return executed_ == posted_; }
  /// Whether none of those that hold a slot will ever free it.
  [[nodiscard]] bool all_unsignalled() const noexcept;

  /// A slot to fill, and then to push().
  [[nodiscard]] work& next() noexcept { return works_[posted_ % depth_]; }
  [[nodiscard]] std::span<ibv_sge> next_sges() noexcept { return sges_of(posted_); }
  [[nodiscard]] std::span<std::byte> next_inline() noexcept { return inline_of(posted_); }
  void push() noexcept { ++posted_; }
  /// Where push() would put the next one; take_back() goes there again.
  [[nodiscard]] std::uint64_t posted() const noexcept { return posted_; }
  void take_back(std::uint64_t to) noexcept { posted_ = to; }

  /// The oldest that was not executed.
  [[nodiscard]] const work& front() const noexcept { return works_[executed_ % depth_]; }
  [[nodiscard]] std::span<ibv_sge> front_sges() noexcept {
    return sges_of(executed_).first(front().sges);
  }
  [[nodiscard]] std::span<std::byte> front_inline() noexcept {
    return inline_of(executed_).first(front().inline_bytes);
  }
  /// Returns what its completion frees: pass it to free_up_to() when that was polled.
  std::uint64_t pop() noexcept { return ++executed_; }

  void free_up_to(std::uint64_t slots) noexcept {
    freed_.store(slots, std::memory_order_release);  // R1 pairs with A1
  }
  void reset() noexcept {
    executed_ = posted_;
    free_up_to(posted_);
  }

 private:
  std::span<ibv_sge> sges_of(std::uint64_t at) noexcept {
    return {sges_.data() + at % depth_ * most_sges_, most_sges_};
  }
  std::span<std::byte> inline_of(std::uint64_t at) noexcept {
    return {inline_.data() + at % depth_ * most_inline_, most_inline_};
  }

  const std::uint32_t depth_, most_sges_, most_inline_;
  std::vector<work> works_;
  std::vector<ibv_sge> sges_;
  std::vector<std::byte> inline_;
  std::uint64_t posted_ = 0, executed_ = 0;
  std::atomic<std::uint64_t> freed_{0};
};

}  // namespace hca
