// SPDX-License-Identifier: BSD-3-Clause
// connector.h - how a stream gets its queue pair, and learns of its inlet at the peer.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "backends/verbs/device.h"
#include "backends/verbs/lane_home.h"
#include "backends/verbs/peers.h"

namespace heddle::transport::verbs {

/// Flights that a stream may have under way: a power of two.
[[nodiscard]] std::uint32_t depth_of(const card& on) noexcept;

class connector {
 public:
  connector(verbs_device& device, std::shared_ptr<lane_home> home, peers& known)
      : device_(device), home_(std::move(home)), peers_(known) {}
  ~connector();
  connector(const connector&) = delete;
  connector& operator=(const connector&) = delete;

  /// Begins, unless it has begun.
  [[gnu::noinline]] void connect(peer_lane& p) noexcept;
  /// The question is withdrawn, if there is one.
  void give_up(stream& s) noexcept;
  [[nodiscard]] bool has_news() const noexcept { return home_->letters.has_letters(); }
  /// Calls ready(peer) for each stream that has its inlet now.
  template <class F>
  void read_letters(F ready) noexcept {
    for (const letter& l : home_->letters.take_all()) {
      peer_lane* const p = peers_.at(l.stream);
      if (p != nullptr && is_awaited(*p, l) && begin(*p, l)) ready(*p);
    }
  }

 private:
  [[nodiscard]] static bool is_awaited(const peer_lane& p, const letter& l) noexcept;
  [[nodiscard]] bool begin(peer_lane& p, const letter& l) noexcept;

  verbs_device& device_;
  const std::shared_ptr<lane_home> home_;
  peers& peers_;
};

}  // namespace heddle::transport::verbs
