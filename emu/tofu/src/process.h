// SPDX-License-Identifier: BSD-3-Clause
// process.h - this process as a part of the machine: its CQs and the handles of its VCQs.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "cq.h"
#include "machine.h"

namespace tofu {

/// Handles are numbers, not addresses: one that was freed, or that came through fork from the
/// parent, is recognised.
class handle_table {
 public:
  /// nullptr: not a handle of a VCQ of this process.
  [[nodiscard]] vcq* find(std::uintptr_t handle) const noexcept {
    const row& r = rows_[handle % rows];
    // A1 pairs with R1: the VCQ is complete. Handle 0 is never given out.
    return handle != 0 && r.handle.load(std::memory_order_acquire) == handle ? r.object : nullptr;
  }
  /// 0: no room. Guarded by the process's lock, as is remove().
  std::uintptr_t add(vcq* object) noexcept;
  void remove(std::uintptr_t handle) noexcept;
  void clear() noexcept;

 private:
  static constexpr std::size_t rows = 1024;
  struct row {
    std::atomic<std::uintptr_t> handle{0};
    vcq* object = nullptr;
  };
  std::array<row, rows> rows_;
  std::uintptr_t uses_ = 0;
};

inline constinit handle_table handles;

class process {
 public:
  static process& get() noexcept { return *current; }

  /// Joins the machine unless that has been done. False: it cannot be joined; stderr says why.
  bool join();
  /// Only after join().
  [[nodiscard]] const machine& place() const noexcept { return *machine_; }

  /// All return a utofu_return_code. `cmp`: which cmp_id, or any.
  int create_vcq(unsigned tni, std::optional<unsigned> cmp, unsigned long flags,
                 std::uintptr_t& handle);
  int free_vcq(std::uintptr_t handle);

  /// At exit. Executes what is queued and leaves the machine.
  void leave() noexcept;
  /// In the child, after fork: nothing of the parent's is ours.
  static void start_anew();

 private:
  int find_room(unsigned tni, std::optional<unsigned> cmp, bool exclusive, cq*& queue,
                unsigned& cmp_id);
  int open_cq(unsigned tni, unsigned cmp, bool exclusive, cq*& queue);
  void close_cq(cq* queue);
  [[nodiscard]] bool has_shared_room(unsigned tni) const noexcept;

  static process* current;  // changed only by fork

  // The parent's, kept after fork: it can be neither used nor destroyed, as other threads of the
  // parent may have been inside.
  process* before_ = nullptr;

  std::mutex mutex_;  // guards all below; `joined_` only for writing
  std::atomic<bool> joined_{false};
  std::optional<machine> machine_;
  settings set_;
  std::vector<std::unique_ptr<cq>> cqs_;
  engine* engine_ = nullptr;  // only in modes engine and chaos; never destroyed
};

/// What functions that may allocate are wrapped in.
template <class F>
int guarded(const F& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return -641;  // UTOFU_ERR_OUT_OF_MEMORY
  } catch (...) {
    return -768;  // UTOFU_ERR_FATAL
  }
}

}  // namespace tofu
