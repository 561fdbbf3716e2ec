// SPDX-License-Identifier: BSD-3-Clause
// operations.h - what a lane has in flight, and what becomes of it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "protocols/delivery.h"
#include "protocols/flushes.h"
#include "protocols/peer.h"
#include "protocols/protocol.h"
#include "protocols/room.h"
#include "sync/counters.h"

namespace heddle::protocols {

/// Threads: the holder of the lane, but for the hints. What has ended goes into the batch of
/// collect_in().
class operations {
 public:
  /// Of the program's at most so many.
  explicit operations(std::size_t most) noexcept : room_(most) {}

  void collect_in(delivery_batch& out) noexcept { out_ = &out; }
  [[nodiscard]] delivery_batch& out() noexcept { return *out_; }

  /// How many there may be. A receive that waits for its message counts as one.
  [[nodiscard]] protocols::room& room() noexcept { return room_; }
  [[nodiscard]] const protocols::room& room() const noexcept { return room_; }
  /// Who waits for puts, gets and atomics to end.
  [[nodiscard]] flushes& flushing() noexcept { return flushes_; }

  /// A request for `c`, in hand; `p` null: with nobody in particular.
  request& begin(peer* p, const command& c, protocol& owner);
  /// It is an access: flushes wait for it from now on.
  void count(request& r) noexcept {
    r.counted = true;
    r.mark = flushes_.begin_access(*r.with, r.bytes);
  }
  /// It is over: delivers its completion. It must be in hand.
  void finish(request& r, const outcome& what);
  void finish(request& r, status code);
  /// The same, without a word to the program.
  void release(request& r);
  /// The requests of all of them, and those that rma tries to post directly.
  [[nodiscard]] request_pool& pool() noexcept { return pool_; }
  [[nodiscard]] const request_pool& pool() const noexcept { return pool_; }

  // --- direct ones: at their end there is nothing to do but to tell ---------------------------
  /// The wire has taken it at once. Before this only its op was filled, and it was not in flight.
  [[gnu::always_inline]] void begin_direct(request& r, peer& p, command_kind what,
                                           const completion& done) noexcept {
    r.what = what;
    r.at = stage::direct;
    r.with = &p;
    r.done = done;
    r.bytes = r.memory.size();
    r.tag = r.message_bytes = r.since_ns = 0;
    r.mark = flushes_.begin_access(p, r.bytes);
    bytes_.add(r.bytes);
    room_.take();
  }
  [[gnu::always_inline]] void end_direct(request& r, status code) {
    peer& p = *r.with;
    p.heard = true;
    const std::uint64_t bytes = r.bytes, mark = r.mark;
    out_->finish(r.done,
                 {.code = code, .peer = p.number, .bytes = code == status::done ? bytes : 0});
    bytes_.subtract(bytes);
    pool_.give_back(r);
    room_.give_back();
    flushes_.end_access(p, mark);
  }

  /// Ends what has no owner to do it: what went straight, and who waits for room.
  void abort(status code);

  /// A hint for other threads: bytes of data on the way. Receives without a message have none.
  [[nodiscard]] std::uint64_t bytes_hint() const noexcept { return bytes_.get(); }

 private:
  delivery_batch* out_ = nullptr;
  request_pool pool_;
  flushes flushes_{*this};
  protocols::room room_;
  sync::owned_counter bytes_;  // written by the holder, read by anyone
};

}  // namespace heddle::protocols
