// SPDX-License-Identifier: BSD-3-Clause
// blocked_links.h - the links at which a post found no room.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "backends/shm/link.h"

namespace heddle::transport::shm {

/// The lane's thread only.
class blocked_links {
 public:
  /// add() needs no memory while there are not more than so many. Throws.
  void reserve(std::size_t links) { links_.reserve(links); }

  /// A message of `bytes` was refused.
  void add(link& to, std::size_t bytes) noexcept {
    if (!to.blocked) links_.push_back(&to);
    to.blocked = true;
    to.blocked_bytes = bytes;
  }
  void remove(const link& to) noexcept { std::erase(links_, &to); }

  /// From now on a receiver that frees lines wakes us.
  void mark_asleep() noexcept {
    for (link* to : links_) to->out->control().producer_waits.mark_asleep();
  }
  void mark_awake() noexcept {
    for (link* to : links_) to->out->control().producer_waits.mark_awake();
  }
  [[nodiscard]] bool some_have_room() const noexcept {
    return std::ranges::any_of(links_,
                               [](link* to) { return to->out->would_take(to->blocked_bytes); });
  }
  /// To be told once that there is room is enough: whoever still wants to post does so before the
  /// next arm().
  void forget_those_with_room() noexcept {
    std::erase_if(links_, [](link* to) {
      to->blocked = !to->out->would_take(to->blocked_bytes);
      return !to->blocked;
    });
  }

 private:
  std::vector<link*> links_;
};

}  // namespace heddle::transport::shm
