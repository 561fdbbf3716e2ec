// SPDX-License-Identifier: BSD-3-Clause
// flushes.h - the puts, gets and atomics of a lane that are in flight, and who waits for their end.
#pragma once
#include <heddle/completion.h>
#include <heddle/status.h>

#include <cstddef>
#include <cstdint>

#include "protocols/flush_queue.h"
#include "protocols/peer.h"

namespace heddle::protocols {

class operations;
class protocol;
struct command;

/// Holder only.
class flushes {
 public:
  explicit flushes(operations& ops) noexcept : ops_(ops) {}

  /// An access begins. Returns its mark (flush_queue.h), with which it ends.
  std::uint64_t begin_access(peer& p, std::uint64_t bytes) noexcept {
    ++p.accesses;
    p.accessed_bytes += bytes;
    ++p.counted;
    ++counted_;
    return last_;
  }
  void end_access(peer& p, std::uint64_t mark) {
    --counted_;
    --p.counted;
    if (waiting_ != 0) [[unlikely]]
      tell(p, mark);
  }

  /// Waits for the accesses that have begun by now; `p` null: for everybody's. posted; done: there
  /// are none; busy_records; peer_lost.
  status wait(const command& c, peer* p, protocol& owner);
  /// Ends the flush that the program has posted with `which` as canceled: done. not_found.
  status cancel(const completion& which);
  /// From now on flushes end with `code`, whatever becomes of what they wait for.
  void cut_off(status code) noexcept { cut_off_ = code; }

 private:
  [[gnu::noinline]] void tell(peer& p, std::uint64_t mark);
  void tell(flush_queue& queue, std::uint64_t mark, status code);

  operations& ops_;
  std::uint64_t counted_ = 0;  // accesses in flight
  flush_queue of_all_;         // those that wait for everybody's; a peer has its own queue
  std::uint64_t last_ = 0;     // how many flushes have ever waited
  std::size_t waiting_ = 0;    // in all queues
  status cut_off_ = status::done;
};

}  // namespace heddle::protocols
