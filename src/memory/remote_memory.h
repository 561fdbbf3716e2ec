// SPDX-License-Identifier: BSD-3-Clause
// remote_memory.h - what the engine keeps of an imported region beside what the fast path needs.
#pragma once
#include <heddle/detail/direct.h>

#include <memory>
#include <mutex>
#include <set>

#include "memory/region_table.h"

namespace heddle::memory {

struct remote_memory;

/// All that one world has imported and that is still there. Any thread.
class imported_memory {
 public:
  void add(remote_memory& made);
  void remove(remote_memory& gone) noexcept;
  /// From now on plain instructions reach none of it, so that the engine answers instead. While no
  /// thread uses any of it.
  void unmap_all() noexcept;

 private:
  std::mutex mutex_;
  std::set<remote_memory*> all_;  // guarded by mutex_
};

/// May outlive its world: what `mapping` keeps needs nothing of it.
struct remote_memory : detail::remote_target {
  explicit remote_memory(std::shared_ptr<imported_memory> of);
  ~remote_memory();
  remote_memory(const remote_memory&) = delete;
  remote_memory& operator=(const remote_memory&) = delete;

  memory::region_ref ref;
  std::shared_ptr<void> mapping;  ///< keeps `direct` mapped

 private:
  const std::shared_ptr<imported_memory> among_;
};

}  // namespace heddle::memory
