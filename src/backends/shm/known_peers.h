// SPDX-License-Identifier: BSD-3-Clause
// known_peers.h - the peers of a device: where each is, which were opened, and which of this
// process's lanes hear of their ends.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backends/shm/peer_process.h"

namespace heddle::transport::shm {

class lane_sleep;

/// One thread at a time.
class known_peers {
 public:
  /// `we_can_fence`: what enable_asymmetric() said here. Throws error: no memory.
  known_peers(bool we_can_fence, std::size_t expected);

  /// Opens a peer that is about to be added, if none with its credentials was opened before.
  /// nullptr: one was, and this one is believed to be the same. Throws error: it cannot be reached.
  [[nodiscard]] std::shared_ptr<peer_process> open_first_of(const credentials& owner,
                                                            const peer_address& where);
  /// `opened`: what open_first_of() said of the same. One that has ended by now proves nothing for
  /// others. Throws.
  void add(const credentials& owner, const peer_address& where,
           const std::shared_ptr<peer_process>& opened);
  /// Opens it when it is needed first; one that is gone or cannot be reached says so from then on.
  /// nullptr: not added. Throws shortage, and bad_alloc.
  [[nodiscard]] std::shared_ptr<peer_process> find(rank number);
  /// For one that find() threw shortage for. Throws bad_alloc.
  [[nodiscard]] std::shared_ptr<peer_process> stand_in(rank number) const;

  /// Makes the ends of peers, present and later ones, wake the lane. Throws.
  void add_sleeper(lane_sleep& lane);
  void remove_sleeper(const lane_sleep& lane) noexcept;
  /// What was written before is seen by all lanes of the peers that were opened: sleeping ones are
  /// woken, awake ones look by themselves.
  void wake_all() noexcept;

 private:
  [[nodiscard]] const peer_address* address_of(rank number) const noexcept;
  void remember(const peer_address& where);
  std::shared_ptr<peer_process> open(const peer_address& where);
  void announce(const std::shared_ptr<peer_process>& peer);

  const pid_t own_pid_;
  const bool we_can_fence_;
  const std::shared_ptr<mapping> nowhere_;  // set aside now: it is needed when there is no memory
  std::vector<peer_address> addresses_;     // of all peers that were added, by rank
  std::vector<credentials> tried_;          // a peer that has these was reached
  std::unordered_map<rank, std::shared_ptr<peer_process>> opened_;
  std::vector<lane_sleep*> lanes_;
};

}  // namespace heddle::transport::shm
