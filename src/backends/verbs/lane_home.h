// SPDX-License-Identifier: BSD-3-Clause
// lane_home.h - what of a lane the device's thread needs, too: the queues that its connections
// share, the ends of peers' streams, and a box for answers.
//
// A stream carries what one lane has for one lane of a peer: operations and messages in order, over
// a reliable queue pair of its own. At the peer it ends in an inlet, which only receives, and tells
// how far the lane has come. So an operation that the peer's card refuses, which ends a queue pair,
// ends one stream in one direction, and all know what it has carried.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backends/verbs/card.h"
#include "backends/verbs/facts.h"
#include "backends/verbs/hello.h"
#include "base/fd.h"
#include "sync/counters.h"
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

  std::uint32_t question = 0;  ///< the peer's newest one that it was the answer to
  sync::event_bit replaced;    ///< the stream has begun anew, at another one
  bool ends = false;           ///< the lane's: with what is in the queue now, it has all of it
  bool let_go = false;         ///< guarded by the home: another may have its place
};

/// The answer to a question of a lane's.
struct letter {
  std::uint32_t stream = 0, question = 0;
  std::optional<hello> answer;  ///< nothing: nobody has answered, or the peer refuses
};

class lane_home {
 public:
  /// Throws error: what the card does not give.
  lane_home(const card& on, int lane);

  [[nodiscard]] int lane() const noexcept { return lane_; }
  [[nodiscard]] const card& on() const noexcept { return card_; }
  [[nodiscard]] ibv_cq* cq() const noexcept { return cq_.get(); }
  [[nodiscard]] ibv_srq* srq() const noexcept { return srq_.get(); }
  [[nodiscard]] ibv_comp_channel* channel() const noexcept { return channel_.get(); }
  /// Readable while there is a letter.
  [[nodiscard]] int bell() const noexcept { return bell_.get(); }
  /// What it posts with is its own: a doorbell that no other lane rings, and no lock. False: the
  /// card has no doorbell page left, so the library's locks are taken.
  [[nodiscard]] bool has_doorbell() const noexcept { return thread_domain_ != nullptr; }
  /// Completions of own requests that the completion queue has room for, beside all that come in.
  [[nodiscard]] std::uint32_t room() const noexcept { return room_; }
  /// Messages of one peer that may wait here.
  [[nodiscard]] std::uint32_t window() const noexcept { return window_; }

  /// A queue pair of this lane's, in its first state; null: the card has none left.
  [[nodiscard]] handle<ibv_qp> make_queue_pair(std::uint32_t depth) const noexcept;
  [[nodiscard]] std::uint32_t max_inline() const noexcept { return max_inline_; }

  // Any thread.

  /// The end of the stream that `ask` tells of: made, or found as it was. What to answer.
  [[nodiscard]] hello admit(const hello& ask, const peer_facts& peer);
  void put(letter l);

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
  [[nodiscard]] bool has_letters() const noexcept { return letters_here_.is_set(); }
  [[nodiscard]] std::vector<letter> take_letters() noexcept;
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
  void take_doorbell() noexcept;
  void make_completion_queue(std::uint32_t entries);
  [[nodiscard]] ibv_pd* domain() const noexcept {
    return parent_domain_ != nullptr ? parent_domain_.get() : card_.domain();
  }
  [[nodiscard]] inlet* look_for(std::uint32_t number) noexcept;
  [[gnu::noinline]] void let_go_of_closed() noexcept;
  [[gnu::noinline]] void note_those_replaced() noexcept;
  [[gnu::noinline]] void end_those_noted() noexcept;
  [[nodiscard]] bool open(inlet& made, const hello& ask, const peer_facts& peer) const noexcept;

  const card& card_;
  const int lane_;
  std::uint32_t room_ = 0, window_ = 0, max_inline_ = 0;
  handle<ibv_td> thread_domain_;
  handle<ibv_pd> parent_domain_;
  handle<ibv_comp_channel> channel_;
  handle<ibv_cq> cq_;
  handle<ibv_srq> srq_;
  unique_fd bell_;
  sync::event_bit letters_here_, replaced_here_;
  // The lane's thread's:
  std::vector<inlet*> seen_;  // by number; null: let go of
  bool some_end_ = false, some_closed_ = false;

  std::mutex mutex_;                            // guards what follows
  std::vector<std::unique_ptr<inlet>> inlets_;  // by number
  std::vector<letter> letters_;
};

/// What to answer where there is no end to be had.
[[nodiscard]] hello refusal_of(const hello& ask) noexcept;
/// A number to begin packets with that nobody foresees.
[[nodiscard]] std::uint32_t fresh_psn() noexcept;

}  // namespace heddle::transport::verbs
