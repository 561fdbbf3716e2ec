// SPDX-License-Identifier: BSD-3-Clause
// utofu_queue.h - a VCQ and registered memory that free themselves: uTofu without Heddle.
#pragma once
#include <utofu.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "parts/system.h"

namespace heddle::bench {

/// Throws std::runtime_error naming `what` and the return code.
void require_utofu(int code, const char* what);

/// Who calls it: one thread at a time without a lock of uTofu's, or several at once with it.
enum class utofu_users : std::uint8_t { one, several };

/// A VCQ that has its CQ to itself.
class utofu_queue {
 public:
  /// On the n-th TNI, going round when there are fewer.
  utofu_queue(std::size_t n, utofu_users who);
  utofu_queue(const utofu_queue&) = delete;
  utofu_queue& operator=(const utofu_queue&) = delete;
  ~utofu_queue();
  [[nodiscard]] utofu_vcq_hdl_t handle() const noexcept { return handle_; }
  /// As peers address it, by the default path.
  [[nodiscard]] utofu_vcq_id_t id() const;

 private:
  utofu_vcq_hdl_t handle_ = 0;
};

/// Zeroed memory of this process, in pages of its own that are there already.
class utofu_memory {
 public:
  explicit utofu_memory(std::size_t bytes);
  [[nodiscard]] std::byte* data() const noexcept { return bytes_.data(); }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  bare::shared_mapping mapping_;
  std::span<std::byte> bytes_;
};

/// Memory as a VCQ addresses it. Both must outlive this.
class utofu_registration {
 public:
  utofu_registration(const utofu_queue& by, const utofu_memory& memory);
  utofu_registration(const utofu_registration&) = delete;
  utofu_registration& operator=(const utofu_registration&) = delete;
  ~utofu_registration();
  /// Of the first byte; the others follow.
  [[nodiscard]] utofu_stadd_t stadd() const noexcept { return stadd_; }

 private:
  const utofu_queue& queue_;
  utofu_stadd_t stadd_ = 0;
};

}  // namespace heddle::bench
