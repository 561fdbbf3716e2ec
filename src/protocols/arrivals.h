// SPDX-License-Identifier: BSD-3-Clause
// arrivals.h - what the wire tells a lane, and which protocol hears it.
#pragma once
#include <cstddef>
#include <span>

#include "protocols/calls.h"
#include "protocols/liveness.h"
#include "protocols/tagged.h"
#include "protocols/transfers.h"

namespace heddle::protocols {

/// Messages, the ends of requests, peers that go. Holder only.
class arrivals {
 public:
  /// `kinds`: which protocol a kind of message belongs to.
  arrivals(const surroundings& where, const path::kind_table& kinds, path& way, peer_table& peers,
           operations& ops, transfers& moving, tagged& messages, calls& called, liveness& lives,
           port_counters& counters)
      : where_(where),
        kinds_(kinds),
        path_(way),
        peers_(peers),
        ops_(ops),
        transfers_(moving),
        tagged_(messages),
        calls_(called),
        liveness_(lives),
        counters_(counters) {}

  [[gnu::noinline]] void take(std::span<const transport::event> news);

 private:
  [[gnu::noinline]] void take_watched(std::span<const transport::event> news);
  [[gnu::noinline]] void take_all(std::span<const transport::event> news);
  void take_one(const transport::event& e);
  void on_message(peer& from, std::span<const std::byte> bytes);
  [[gnu::noinline]] void on_rare_message(peer& from, std::span<const std::byte> bytes);
  void on_change(const transport::event& e);
  [[gnu::noinline]] peer* meet(transport::remote_lane& from);

  const surroundings& where_;
  const path::kind_table& kinds_;
  path& path_;
  peer_table& peers_;
  operations& ops_;
  transfers& transfers_;
  tagged& tagged_;
  calls& calls_;
  liveness& liveness_;
  port_counters& counters_;
};

}  // namespace heddle::protocols
