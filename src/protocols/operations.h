// SPDX-License-Identifier: BSD-3-Clause
// operations.h - what a lane has in flight, and who waits for that to end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocols/delivery.h"
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
  /// It counts for flush from now on.
  void count(request& r) noexcept {
    r.counted = true;
    r.mark = last_flush_;
    count_up(*r.with, r.bytes);
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
    r.mark = last_flush_;
    bytes_.add(r.bytes);
    in_flight_.add();
    count_up(p, r.bytes);
  }
  void end_direct(request& r, status code) {
    peer& p = *r.with;
    p.heard = true;
    const std::uint64_t bytes = r.bytes, mark = r.mark;
    out_->add(r.done, {.code = code, .peer = p.number, .bytes = code == status::done ? bytes : 0});
    bytes_.subtract(bytes);
    pool_.give_back(r);
    in_flight_.subtract();
    count_down(p, mark);
  }

  /// A receive waits for its message, or does so no more.
  void receive_posted() noexcept { in_flight_.add(); }
  void receive_taken() noexcept { in_flight_.subtract(); }

  // --- who waits ------------------------------------------------------------------------
  /// Waits for what is counted now; `p` null: for everybody's.
  status flush(const command& c, peer* p, protocol& owner);
  /// Ends the flush that the program has posted with `which` as canceled: done. not_found.
  status cancel_flush(const completion& which);
  /// From now on flushes end with `code`, whatever becomes of what they wait for.
  void cut_flushes_off(status code) noexcept { cut_off_ = code; }
  void when_room(const completion& done) { room_waiters_.push_back(done); }
  void tell_of_room();
  [[nodiscard]] bool somebody_wants_room() const noexcept { return !room_waiters_.empty(); }

  /// Ends what has no owner to do it: what went straight, and who waits for room.
  void abort(status code);
  /// What has been waiting since before the last time keeps its time.
  void stamp(std::uint64_t now_ns);
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
  void count_up(peer& p, std::uint64_t bytes) noexcept {
    ++p.accesses;
    p.accessed_bytes += bytes;
    ++p.counted;
    ++counted_;
  }
  void count_down(peer& p, std::uint64_t mark) {
    --counted_;
    --p.counted;
    if (waiting_flushes_ != 0) [[unlikely]]
      tell_flushes(p, mark);
  }
  [[gnu::noinline]] void tell_flushes(peer& p, std::uint64_t mark);
  void tell_flushes(flush_queue& waiting, std::uint64_t mark, status code);

  const std::size_t most_;
  delivery_batch* out_ = nullptr;
  request_pool pool_;
  std::uint64_t counted_ = 0;        // puts, gets, atomics in flight
  flush_queue flushes_;              // for everybody
  std::uint64_t last_flush_ = 0;     // how many have ever waited
  std::size_t waiting_flushes_ = 0;  // those of peers, too
  status cut_off_ = status::done;
  std::vector<completion> room_waiters_;
  bool must_take_ = false;
  // Written by the holder, read by anyone.
  sync::owned_counter in_flight_, bytes_;
};

}  // namespace heddle::protocols
