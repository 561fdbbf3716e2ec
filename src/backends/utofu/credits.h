// SPDX-License-Identifier: BSD-3-Clause
// credits.h - who has freed which lines of the rings of messages, and tells whom.
#pragma once
#include <cstdint>

#include "backends/utofu/peers.h"
#include "backends/utofu/work_queue.h"

namespace heddle::transport::utofu {

class credits {
 public:
  credits(work_queue& queue, peers& known) : queue_(queue), peers_(known) {}

  // --- of rings here ---
  /// Something of the peer's ring was taken, and is read until release().
  void note_taken(peer_state& p) noexcept { taken_.add(p); }
  /// The messages of the last poll are read; credits are told that are due.
  void release() noexcept {
    if (!taken_.empty()) release_taken();
    if (!owed_.empty()) [[unlikely]]
      owed_.take_all([this](peer_state& p) { tell(p); });
  }
  /// All that was freed is told. Now and then, and before the lane sleeps: what each of many peers
  /// is not told adds up to a window that is full for ever.
  void tell_all() noexcept;

  // --- of peers' rings ---
  /// A message of the peer says what it has freed, up to a position with these low bits.
  void heard(peer_state& p, std::uint32_t position) noexcept {
    queue_.window().vacate(p.out.free_up_to(position));
  }
  /// What the peer has told by puts of its own.
  void read(peer_state& p) noexcept;
  /// What any peer has. Whether the window has room then.
  [[nodiscard]] bool read_all() noexcept;

 private:
  void release_taken() noexcept;
  void tell(peer_state& p) noexcept;

  work_queue& queue_;
  peers& peers_;
  peer_list<&peer_state::in_taken> taken_;
  peer_list<&peer_state::in_untold> untold_;
  peer_list<&peer_state::in_owed> owed_;
};

}  // namespace heddle::transport::utofu
