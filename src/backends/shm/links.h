// SPDX-License-Identifier: BSD-3-Clause
// links.h - the links of one endpoint: made at first contact, opened when they are used, ended when
// their peer is gone or there is no way to it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "backends/shm/announcements.h"
#include "backends/shm/blocked_links.h"
#include "backends/shm/device.h"
#include "backends/shm/incoming_rings.h"
#include "backends/shm/link.h"
#include "base/lane_table.h"

namespace heddle::transport::shm {

/// The lane's thread only.
class links {
 public:
  /// Rings that peers make to `lane` go into `incoming`. A link that is made finds its place there
  /// and in `blocked`.
  links(shm_device& owner, int lane, incoming_rings& incoming, blocked_links& blocked) noexcept
      : device_(owner), lane_(lane), incoming_(incoming), blocked_(blocked) {}

  /// The link to a peer's lane, which is made if there is none. Null: no such peer or lane, or no
  /// memory.
  link* reach(rank peer, int lane) noexcept;
  /// Before a post, which otherwise is answered so: its process, and for a message the ring to it,
  /// are opened if they are not. busy_queue: descriptors or memory lack. peer_lost: there is no way
  /// to it.
  status open_way(link& to, bool with_ring) noexcept;
  /// Opens what a peer has announced. False: not now, because the peer is not known yet, or
  /// descriptors or memory ran out, or its process is ending. Where that stays so the peer is lost:
  /// what it has sent is nowhere to be had.
  bool accept(const announcements::announcement& announced) noexcept;
  /// Since the last call descriptors or memory lacked for a post.
  [[nodiscard]] bool take_shortage() noexcept { return std::exchange(short_, false); }

  /// From now on posts answer peer_lost. The event follows what the peer has sent.
  void begin_end(link& of) noexcept;
  /// begin_end() for all whose process is known to be gone.
  void end_gone() noexcept;
  /// Some end was begun that report() has to follow up yet.
  [[nodiscard]] bool some_end() const noexcept { return !ending_.empty(); }
  [[nodiscard]] bool some_end_unreported() const noexcept;
  /// Follows up each end that was begun: closes the rings of what was lost before this call, for
  /// their messages are over, and calls report(link) for the next whose ring is empty, while that
  /// returns true. It makes the link lost.
  template <class Report>
  void report_ends(const Report& report) noexcept {
    bool room = true;
    std::erase_if(ending_, [&](link* each) {
      if (each->state == link::state_t::lost) {
        blocked_.remove(*each);
        each->close_rings();
        return true;
      }
      const bool delivered = !each->in || each->corrupt || !each->in->has_work();
      if (room && delivered) room = report(*each);
      return false;
    });
  }

  [[nodiscard]] std::span<link* const> all() const noexcept { return all_; }

 private:
  link* make(rank peer, int lane) noexcept;
  void meet(link& one);
  void begin_end(link& of, const std::exception& why) noexcept;
  bool give_up(link& of, std::uint64_t since_ns, const shortage& why) noexcept;

  shm_device& device_;
  const int lane_;
  incoming_rings& incoming_;
  blocked_links& blocked_;
  lane_table<link> known_;
  std::vector<link*> all_;
  std::vector<link*> ending_;  // to be reported once their ring is empty, then unmapped
  bool short_ = false;
};

}  // namespace heddle::transport::shm
