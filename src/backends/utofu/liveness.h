// SPDX-License-Identifier: BSD-3-Clause
// liveness.h - whether peers live: the hardware reads a word of theirs for it.
#pragma once
#include <cstddef>

#include "backends/utofu/peers.h"
#include "backends/utofu/work_queue.h"
#include "transport/outbox.h"

namespace heddle::transport::utofu {

class liveness {
 public:
  liveness(work_queue& queue, peers& known, outbox& events)
      : queue_(queue), peers_(known), events_(events) {}

  /// Asks after some of the peers, in turn.
  void probe_some() noexcept;
  /// For each probe, however it ended; on_probe() also when it was answered.
  void probe_ended(peer_state& p) noexcept;
  void on_probe(peer_state& p) noexcept;
  /// The op has ended so, and is told of. But `withdrawn` says that it met a steering tag that is
  /// not valid: its region was withdrawn, or its owner has gone and all its tags with it. Then a
  /// probe decides, and until then the op is under way.
  void ended(peer_state& p, op& of, status how) noexcept;
  /// Probes that could not be posted when they were needed.
  void ask_again() noexcept {
    if (!in_doubt_.empty()) [[unlikely]]
      in_doubt_.take_all([this](peer_state& p) { ask(p); });
  }
  /// The peer is gone.
  void forget(peer_state& p) noexcept { settle(p, p.doubts.size(), status::peer_lost); }

 private:
  void probe(peer_state& p) noexcept;
  void ask(peer_state& p) noexcept;
  void settle(peer_state& p, std::size_t count, status how) noexcept;

  work_queue& queue_;
  peers& peers_;
  outbox& events_;
  std::size_t next_ = 0;       // of all peers
  std::size_t under_way_ = 0;  // probes
  peer_list<&peer_state::in_doubt> in_doubt_;
};

}  // namespace heddle::transport::utofu
