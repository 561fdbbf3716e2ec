// SPDX-License-Identifier: BSD-3-Clause
// operations.h - what a lane has in flight, and who waits for that to end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocols/delivery.h"
#include "protocols/flushes.h"
#include "protocols/peer.h"
#include "protocols/protocol.h"
#include "sync/counters.h"

namespace heddle::protocols {

/// Threads: the holder of the lane, but for the hints. What has ended goes into the batch of
/// collect_in().
class operations {
 public:
  explicit operations(std::size_t most) : most_(most) {}

  void collect_in(delivery_batch& out) noexcept { out_ = &out; }
  [[nodiscard]] delivery_batch& out() noexcept { return *out_; }

  /// No more of the program's are taken now.
  [[nodiscard]] bool full() const noexcept { return in_flight_.get() >= most_ && !must_take_; }
  /// Until it is unset, more are taken: they were accepted when there was room.
  void must_take(bool all) noexcept { must_take_ = all; }

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
  /// What a message of `from` names as its own, and is with it; null: there is no such request.
  [[nodiscard]] request* find(std::uint64_t id, const peer& from) noexcept;

  // --- those that the wire takes at once and that leave nothing to do but to tell ------------
  /// Only its op is to be filled, and posted.
  [[nodiscard]] request& take_direct() { return pool_.take(); }
  void give_back_direct(request& r) noexcept { pool_.give_back(r); }
  /// The wire has taken it.
  void begin_direct(request& r, peer& p, const command& c) noexcept {
    r.what = c.kind;
    r.at = stage::direct;
    r.with = &p;
    r.done = c.done;
    r.bytes = c.memory.size();
    r.tag = r.message_bytes = r.since_ns = 0;
    r.mark = flushes_.begin_access(p, r.bytes);
    bytes_.add(r.bytes);
    in_flight_.add();
  }
  void end_direct(request& r, status code) {
    peer& p = *r.with;
    p.heard = true;
    const std::uint64_t bytes = r.bytes, mark = r.mark;
    out_->add(r.done, {.code = code, .peer = p.number, .bytes = code == status::done ? bytes : 0});
    bytes_.subtract(bytes);
    pool_.give_back(r);
    in_flight_.subtract();
    flushes_.end_access(p, mark);
  }

  /// A receive waits for its message, or does so no more.
  void receive_posted() noexcept { in_flight_.add(); }
  void receive_taken() noexcept { in_flight_.subtract(); }

  // --- who waits ------------------------------------------------------------------------
  [[nodiscard]] flushes& flushing() noexcept { return flushes_; }
  void when_room(const completion& done) { room_waiters_.push_back(done); }
  void tell_of_room();
  [[nodiscard]] bool somebody_wants_room() const noexcept { return !room_waiters_.empty(); }

  /// Ends what has no owner to do it: what went straight, and who waits for room.
  void abort(status code);
  template <class F>
  void each(F&& f) {
    pool_.each(f);
  }
  [[nodiscard]] bool none() const noexcept { return pool_.in_use() == 0; }

  /// Hints for other threads: operations in flight, and bytes of data on the way; receives without
  /// a message have none.
  [[nodiscard]] std::size_t count_hint() const noexcept { return in_flight_.get(); }
  [[nodiscard]] std::uint64_t bytes_hint() const noexcept { return bytes_.get(); }

 private:
  const std::size_t most_;
  delivery_batch* out_ = nullptr;
  request_pool pool_;
  flushes flushes_{*this};
  std::vector<completion> room_waiters_;
  bool must_take_ = false;
  // Written by the holder, read by anyone.
  sync::owned_counter in_flight_, bytes_;
};

}  // namespace heddle::protocols
