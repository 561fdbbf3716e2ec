// SPDX-License-Identifier: BSD-3-Clause
// peers.h - what one lane keeps of each peer, and how it finds that.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/utofu/device.h"
#include "backends/utofu/message_ring.h"
#include "backends/utofu/peer_list.h"
#include "backends/utofu/pending.h"
#include "backends/utofu/shared_memory.h"
#include "backends/utofu/slab.h"
#include "base/lane_table.h"
#include "transport/published_regions.h"
#include "transport/remote_lane.h"

namespace heddle::transport::utofu {

/// One way to a word of a region: a VCQ, and the address of the region's first byte there.
struct way {
  remote_vcq* via = nullptr;
  utofu_stadd_t address = 0;  ///< 0: the hardware does not reach it
};

/// A region of a peer as this lane reaches it.
struct peer_region : known_region {
  region_facts facts;
  way to;
  unsigned tag = 0;  ///< common: the same on every queue of the peer, so atomics spread over them
  std::vector<way> of_atomics;  ///< by the peer's queues, where there is a common tag
  way of_messages;  ///< over the queue that takes messages, where there is one; made when needed
};

/// How far the peer's lane and ours are connected.
enum class stage : std::uint8_t {
  unconnected,
  drawing,    ///< a ticket of its listener is being drawn
  waiting,    ///< for a free slot of its listener
  requested,  ///< waiting for its answer
  connected,  ///< messages can be sent
};

/// What one lane keeps of one lane of a peer. Regions are reached through any of them.
struct alignas(16) peer_state final : remote_lane {
  using remote_lane::remote_lane;
  std::shared_ptr<const peer_facts> facts;
  bool lost = false;               // reported, or dropped
  const char* why_lost = nullptr;  // as events say it
  remote_vcq* vcq = nullptr;       // the lane's; null: it does not listen
  std::vector<remote_vcq*> lanes;  // by its number; null: not used yet
  std::vector<int> first_lanes;    // the peer's lanes that are the first on their CQ
  peer_area* area = nullptr;       // in our memory: what the peer writes, beside messages
  utofu_stadd_t area_address = 0;
  slab_place area_at = 0, ring_at = 0;

  // Messages.
  outgoing_ring out;
  incoming_ring in;
  utofu_stadd_t their_area = 0;  // set with `out`

  // Wire-up.
  stage at = stage::unconnected;
  std::uint32_t ticket = 0;
  std::uint64_t asked_at_ns = 0;
  std::uint64_t no_memory_since_ns = 0;  // for its ring; 0: there was some

  known_regions<peer_region> regions;

  // Liveness.
  bool probing = false;          // a get of its nonce is under way
  std::vector<op*> doubts;       // ended as withdrawn, unless the peer has gone
  std::size_t doubts_asked = 0;  // of them, before the probe that is under way

  peer_link in_lost, in_taken, in_untold, in_owed, in_connecting, in_answers, in_doubt;
};

/// All peers that a lane has had to do with, and the VCQs of theirs that it uses.
class peers {
 public:
  peers(utofu_device& device, slab& memory) : device_(device), slab_(memory) {}

  /// nullptr: the device does not know the peer, or there is no memory for it.
  [[nodiscard]] peer_state* find(rank number, int lane) noexcept {
    peer_state* const known = known_.find(number, lane);
    return known != nullptr ? known : make(number, lane);
  }
  [[nodiscard]] const std::vector<peer_state*>& all() const noexcept { return all_; }
  [[nodiscard]] vcq_table& vcqs() noexcept { return vcqs_; }
  /// The VCQ of one lane of the peer. Throws std::bad_alloc.
  remote_vcq& vcq_of(peer_state& p, std::size_t lane);
  /// Any VCQ of the peer that is used already; nullptr: none is.
  [[nodiscard]] static remote_vcq* any_vcq_of(const peer_state& p) noexcept;
  /// Gives it an area of our memory, once. False: no memory.
  [[nodiscard]] bool prepare_area(peer_state& p) noexcept;
  /// And a ring of so many lines.
  [[nodiscard]] bool prepare_ring(peer_state& p, std::uint32_t lines, bool polled) noexcept;

  /// It is gone: later it is told, and what is under way to it is ended. `why`: a literal.
  void lose(peer_state& p, const char* why = gone) noexcept {
    if (std::exchange(p.lost, true)) return;
    p.why_lost = why;
    lost_.add(p);
  }
  [[nodiscard]] bool some_lost() const noexcept { return !lost_.empty(); }
  /// Calls function(peer) once for each that was lost.
  template <class F>
  void take_lost(F function) noexcept {
    lost_.take_all(function);
  }

 private:
  static constexpr const char* gone =
      "the Tofu network does not reach it any more: its node, its process or its lane has gone";
  [[gnu::noinline]] peer_state* make(rank number, int lane) noexcept;

  utofu_device& device_;
  slab& slab_;
  lane_table<peer_state> known_;
  std::vector<peer_state*> all_;
  vcq_table vcqs_;
  peer_list<&peer_state::in_lost> lost_;
};

inline constexpr utofu_stadd_t no_address = ~utofu_stadd_t{0};
/// Of what lies `offset` bytes into the memory with this reserved tag; no_address: the hardware
/// does not know it.
[[nodiscard]] utofu_stadd_t address_of(const remote_vcq& to, unsigned tag,
                                       std::uint64_t offset) noexcept;

}  // namespace heddle::transport::utofu
