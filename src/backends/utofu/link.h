// link.h - what one lane keeps of one peer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backends/utofu/device.h"
#include "backends/utofu/shared_memory.h"
#include "backends/utofu/stream.h"

namespace heddle::transport::utofu {

/// A region of the peer as this lane reaches it.
struct target {
  memory::region_ref ref;
  region_facts facts;
  stream* via = nullptr;
  utofu_stadd_t address = 0;  ///< 0: the hardware does not reach it
  enum class state_t : std::uint8_t { unknown, fetching, fetched, known } state = state_t::unknown;
  unsigned tag = 0;  ///< common: the same on every queue of the peer, so atomics spread over them
};

struct link {
  enum class state_t : std::uint8_t {
    open,
    lost,  ///< reported, or dropped
  };
  /// How far the peer's lane and ours have met.
  enum class stage_t : std::uint8_t {
    strange,    ///< nothing was sent yet
    queuing,    ///< a ticket for its door is being drawn
    at_door,    ///< waiting for a free place at its door
    asked,      ///< waiting for its answer
    connected,  ///< messages can be sent
  };

  std::shared_ptr<const peer_facts> peer;
  state_t state = state_t::open;
  stage_t stage = stage_t::strange;
  bool probing = false;   // a get of its nonce is under way
  bool fetching = false;  // a get of an entry of its table is under way
  bool answers = false;   // our grant is to be sent to its line
  bool credits = false;   // what we have freed is to be told
  bool untold = false;    // it is in the endpoint's list of those to whom something is not told

  // Ours, where the peer writes. Set when it was granted.
  line* mine = nullptr;
  slab_place line_at = 0, ring_at = 0;
  std::byte* ring = nullptr;
  std::uint32_t ring_slots = 0;  // a power of two, so that a mask finds the place in the ring
  bool quiet = false;            // no notices are left for it: its messages are looked for
  std::uint64_t taken = 0, released = 0, told = 0;  // slots since the beginning

  // The peer's, where we write. Set when connected.
  stream* lane = nullptr;
  utofu_stadd_t their_ring = 0, their_line = 0;
  std::uint32_t their_slots = 0;         // a power of two
  bool quietly = false;                  // messages to it carry a stamp instead of a notice
  std::uint64_t sent = 0, consumed = 0;  // slots since the beginning

  std::uint32_t ticket = 0;
  std::uint64_t asked_at_ns = 0;

  std::unordered_map<std::uint32_t, target> targets;  // by slot
  target* last_target = nullptr;
  target* fetched_target = nullptr;              // fetching: whose entry
  std::vector<std::unique_ptr<stream>> streams;  // by the peer's lane
  std::vector<op*> doubts;                       // ended: withdrawn, unless the peer has gone
  std::size_t doubts_asked = 0;                  // of them, by the probe that is under way
  std::vector<int> first_lanes;                  // the peer's lanes that are the first on their CQ

  [[nodiscard]] rank number() const noexcept { return peer->number; }
};

}  // namespace heddle::transport::utofu
