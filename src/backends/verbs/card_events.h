// SPDX-License-Identifier: BSD-3-Clause
// card_events.h - what a card tells of itself, unasked: its port goes down and up, or it fails.
#pragma once
#include "backends/verbs/card.h"
#include "sync/release_acquire.h"

namespace heddle::transport::verbs {

class card_events {
 public:
  /// From now on reading them does not wait.
  explicit card_events(const card& on);

  /// Readable when there are some.
  [[nodiscard]] int fd() const noexcept { return card_.context()->async_fd; }
  /// Reads what there is, and tells people of it. One thread.
  void read() noexcept;
  /// Nothing goes through the card any more, and nothing will. Any thread.
  [[nodiscard]] bool card_is_down() const noexcept { return down_.is_set(); }

 private:
  void tell_of_port(bool is_up) const noexcept;

  const card& card_;
  sync::release_acquire_flag down_;
};

}  // namespace heddle::transport::verbs
