// SPDX-License-Identifier: BSD-3-Clause
// port.h - a lane's protocols together: what its driver calls.
//
//   dispatch      which of them a command of the program belongs to
//   path          each peer's order on the way to the wire, the batch, the backlog
//   operations    what is in flight, and who waits for that
//   eager         sending messages whole                 tagged, calls   receiving them
//   flow          the credit that they take
//   rendezvous    announcing large ones, fetching them
//   rma           put, get, atomics of the program       transfers       by which way they go:
//                                                                        the wire, pieces,
//                                                                        fragments
//   rma_target    answering fragments of peers           liveness        peers that go
//   waits         flushes, and who waits for room
//   endpoint_set  asking the wires for news              arrivals        who hears what they tell
//   census        what people ask of all these
#pragma once
#include <cstddef>
#include <cstdint>

#include "protocols/arrivals.h"
#include "protocols/census.h"
#include "protocols/dispatch.h"
#include "protocols/eager.h"
#include "protocols/endpoint_set.h"
#include "protocols/waits.h"
#include "sync/cache_line.h"

namespace heddle::protocols {

/// Threads: the holder of the lane. Nothing here blocks or calls the program; what has ended goes
/// into the batch given.
class port {
 public:
  port(engine::lane_core& lane, const surroundings& where, endpoint_set::list endpoints);

  /// Starts what the program asks for.
  [[nodiscard]] protocols::dispatch& dispatch() noexcept { return dispatch_; }
  /// For what goes the short way, and for questions.
  [[nodiscard]] protocols::eager& eager() noexcept { return eager_; }
  [[nodiscard]] protocols::tagged& tagged() noexcept { return tagged_; }

  /// Handles what has come and goes on with what waits. Returns how many events there were.
  std::size_t progress(delivery_batch& out) {
    ops_.collect_in(out);
    const std::size_t count = endpoints_.poll();
    if (!path_.blocked() && transfers_.by_turns().none() && !ops_.room().is_awaited()) [[likely]]
      return count;
    return count + go_on();
  }
  /// Prepares for sleep, as endpoint::arm. False: there is work now.
  [[nodiscard]] bool arm() noexcept {
    if (path_.blocked()) [[unlikely]] {
      flow_.new_look();
      path_.flush_for_rest();
      ops_.room().tell(ops_.out());
    }
    return endpoints_.arm() && transfers_.by_turns().none();
  }
  /// The same as endpoint::arm_loosely, and polls for nothing that waits here.
  [[nodiscard]] bool arm_loosely() noexcept {
    return !path_.blocked() && transfers_.by_turns().none() && endpoints_.arm_loosely();
  }
  [[nodiscard]] const endpoint_set& endpoints() const noexcept { return endpoints_; }
  /// Something accepted still waits for a progress() to leave.
  [[nodiscard]] bool unsent() const noexcept;
  /// Nothing of ours is under way, except receives.
  [[nodiscard]] bool quiet() const noexcept;

  /// Looks for dead peers, and at what waits for credit; every now and then while anything is in
  /// flight, and soon where awaits_credit().
  void maintain(std::uint64_t now_ns, delivery_batch& out);
  /// Ends every operation with `code`.
  void abort(status code, delivery_batch& out);
  /// After abort(): lets the endpoints go, and is used no more.
  void close() noexcept;

  /// Hints for other threads: operations in flight, bytes of data on the way, where receives
  /// without a message do not count, and whether no more notifications should be queued.
  [[nodiscard]] std::size_t in_flight_hint() const noexcept { return ops_.room().taken(); }
  [[nodiscard]] std::uint64_t bytes_hint() const noexcept { return ops_.bytes_hint(); }
  [[nodiscard]] bool is_crowded() const noexcept { return path_.is_crowded(); }
  [[nodiscard]] bool awaits_credit() const noexcept { return flow_.is_awaited(); }
  /// For people.
  [[nodiscard]] protocols::census& census() noexcept { return census_; }
  [[nodiscard]] const protocols::census& census() const noexcept { return census_; }
  [[nodiscard]] const port_counters& counters() const noexcept { return counters_; }

 private:
  [[gnu::noinline]] std::size_t go_on();
  void flush_blocked();

  // Constant after construction.
  const surroundings where_;
  port_counters counters_;
  operations ops_;  // outlives the endpoints, which know of its requests
  // Apart from the hints in operations, which threads that wait read while the holder polls.
  alignas(sync::cache_line) endpoint_set endpoints_;
  peer_table peers_;
  path path_;
  transfers transfers_;
  rma rma_;
  rma_target rma_target_;
  rendezvous rendezvous_;
  flow flow_;
  protocols::eager eager_;
  protocols::tagged tagged_;
  waits waits_;
  protocols::dispatch dispatch_;
  calls calls_;
  liveness liveness_;
  protocols::census census_;
  const path::kind_table kinds_;  // which protocol a kind of message belongs to
  const protocols::dispatch::command_table commands_;  // and a kind of command
  arrivals arrivals_;
};

}  // namespace heddle::protocols
