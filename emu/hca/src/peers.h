// SPDX-License-Identifier: BSD-3-Clause
// peers.h - the arenas of the processes that this one sends to, and how bytes get into their
// memory.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "fabric.h"
#include "host/os.h"
#include "keys.h"

namespace hca {

/// A process as those see it who send to it.
struct peer {
  host::process_stamp stamp = 0;
  pid_t pid = 0;
  bool is_self = false;
  std::byte* arena = nullptr;
  host::mapping map;  ///< empty for this process, whose arena is mapped anyway

  template <class T>
  [[nodiscard]] T& at(std::uint64_t offset) const noexcept {
    return *reinterpret_cast<T*>(arena + offset);
  }
  [[nodiscard]] const key_table& keys() const noexcept { return at<key_table>(0); }
};

/// Any thread.
class peer_table {
 public:
  peer_table(const fabric& f, std::byte* own_arena) noexcept : fabric_(f), own_(own_arena) {}
  /// nullptr: it has ended, or this process may not look into it; then stderr says so.
  [[nodiscard]] std::shared_ptr<const peer> find(host::process_stamp who);

 private:
  std::shared_ptr<const peer> open(host::process_stamp who);

  const fabric& fabric_;
  std::byte* const own_;
  std::mutex mutex_;  // guards all below
  std::array<std::shared_ptr<const peer>, host::max_processes> known_;
};

}  // namespace hca
