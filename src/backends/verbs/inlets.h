// SPDX-License-Identifier: BSD-3-Clause
// inlets.h - where peers' streams end at a lane.
//
// A stream carries what one lane has for one lane of a peer: operations and messages in order, over
// a reliable queue pair of its own. At the peer it ends in an inlet, which only receives, and tells
// how far the lane has come. So an operation that the peer's card refuses, which ends a queue pair,
// ends one stream in one direction, and all know what it has carried.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/verbs/facts.h"
#include "backends/verbs/hello.h"
#include "backends/verbs/lane_queues.h"
#include "sync/release_acquire.h"
#include "transport/remote_lane.h"

namespace heddle::transport::verbs {

/// The end of a peer's stream. What changes is the lane's thread's until it lets go of it.
struct inlet {
  rank from = 0;
  int lane = 0;              ///< of `from`
  std::uint32_t number = 0;  ///< of this lane's inlets
  std::uint32_t stream = 0;  ///< the peer's number of it
  std::uint32_t their_qpn = 0, our_psn = 0;
  handle<ibv_qp> qp;

  remote_lane* known_as = nullptr;  ///< the lane's; null: no message has come yet
  std::uint32_t taken = 0, told = 0;
  bool speaking = false;  ///< a word to the peer is under way

  std::uint32_t question = 0;           ///< the peer's newest one that it was the answer to
  sync::release_acquire_flag replaced;  ///< the stream has begun anew, at another one
  bool ends = false;    ///< the lane's: with what is in the queue now, it has all of it
  bool let_go = false;  ///< guarded by the inlets' mutex: another may have its place
};

class inlets {
 public:
  explicit inlets(const lane_queues& of) : queues_(of) {}

  /// The end of the stream that `ask` tells of: made, or found as it was. What to answer. Any
  /// thread. Throws std::bad_alloc.
  [[nodiscard]] hello admit(const hello& ask, const peer_facts& peer);

  // The lane's thread.

  /// Null: there is none of this number.
  [[nodiscard]] inlet* find(std::uint32_t number) noexcept {
    inlet* const known = number < seen_.size() ? seen_[number] : nullptr;
    return known != nullptr ? known : look_for(number);
  }
  /// By number; null: there is none now.
  [[nodiscard]] std::span<inlet* const> all() noexcept {
    (void)look_for(UINT32_MAX);
    return seen_;
  }
  /// Notes inlets that were replaced so far, and closes those. The first is to be called before the
  /// completion queue is emptied, the second when it is empty: a card may forget what came over a
  /// queue pair when that ends. The first also lets go of those that were closed before: nothing is
  /// to refer to them any more.
  void note_replaced() noexcept {
    if (some_closed_) [[unlikely]]
      let_go_of_closed();
    if (replaced_here_.take()) [[unlikely]]
      note_those_replaced();
  }
  void end_noted() noexcept {
    if (some_end_) [[unlikely]]
      end_those_noted();
  }

 private:
  [[nodiscard]] bool open(inlet& made, const hello& ask, const peer_facts& peer) const noexcept;
  [[nodiscard]] inlet* look_for(std::uint32_t number) noexcept;
  [[gnu::noinline]] void let_go_of_closed() noexcept;
  [[gnu::noinline]] void note_those_replaced() noexcept;
  [[gnu::noinline]] void end_those_noted() noexcept;

  const lane_queues& queues_;
  sync::release_acquire_flag replaced_here_;
  // The lane's thread's:
  std::vector<inlet*> seen_;  // by number; null: let go of
  bool some_end_ = false, some_closed_ = false;

  std::mutex mutex_;                            // guards what follows
  std::vector<std::unique_ptr<inlet>> inlets_;  // by number
};

/// What to answer where there is no end to be had.
[[nodiscard]] hello refusal_of(const hello& ask) noexcept;
/// A number to begin packets with that nobody foresees.
[[nodiscard]] std::uint32_t fresh_psn() noexcept;

}  // namespace heddle::transport::verbs
