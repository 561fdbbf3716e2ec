// SPDX-License-Identifier: BSD-3-Clause
// large_transfers.h - puts and gets that go in several pieces: what is longer than one work request
// takes, and what cannot be registered.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "backends/utofu/buffers.h"
#include "backends/utofu/peers.h"
#include "backends/utofu/work_queue.h"
#include "memory/registration_cache.h"

namespace heddle::transport::utofu {

/// The hardware takes 16 MiB - 1, and one user saw a longer one hang instead of fail.
inline constexpr std::size_t max_piece = 8 * 1024 * 1024;
/// What cannot be registered goes through slots of this size.
inline constexpr std::size_t slot_piece = 64 * 1024;

/// A lease in an op's notes, which have no destructor: whoever ends the op releases it.
class kept_lease {
 public:
  using lease = memory::registration_cache::lease;
  void keep(lease&& held) noexcept {
    std::construct_at(reinterpret_cast<lease*>(at_.data()), std::move(held));
  }
  [[nodiscard]] lease& get() noexcept {
    return *std::launder(reinterpret_cast<lease*>(at_.data()));
  }
  void release() noexcept { std::destroy_at(&get()); }

 private:
  alignas(lease) std::array<std::byte, sizeof(lease)> at_;
};

class large_transfers {
 public:
  large_transfers(work_queue& queue, slot_pool slots) : queue_(queue), slots_(std::move(slots)) {}

  /// posted, or busy_queue: there is no memory. Without a lease it goes through slots.
  [[nodiscard]] status begin(const way& to, op& o, kept_lease::lease held) noexcept;
  /// Posts pieces for which there is room.
  void move() noexcept {
    if (!active_.empty()) [[unlikely]]
      for (op* o : active_) post_pieces(*o);
  }
  /// It has begun, and goes in pieces.
  [[nodiscard]] bool has(const op& o) const noexcept {
    return std::find(active_.begin(), active_.end(), &o) != active_.end();
  }
  /// True: it was the last piece, and the op ends with `code`.
  [[nodiscard]] bool piece_ended(op& o, status& code) noexcept;
  /// The peer is gone, and no piece is under way: calls function(op) for each op to it.
  template <class F>
  void forget(const peer_state& p, F function) noexcept {
    std::erase_if(active_, [&](op* o) {
      if (!is_over_with(p, *o)) return false;
      release(*o);
      function(*o);
      return true;
    });
  }

 private:
  [[nodiscard]] static bool is_over_with(const peer_state& p, op& o) noexcept;
  void post_pieces(op& o) noexcept;
  [[nodiscard]] bool post_piece(op& o) noexcept;
  void release(op& o) noexcept;

  work_queue& queue_;
  slot_pool slots_;
  std::vector<op*> active_;
};

}  // namespace heddle::transport::utofu
