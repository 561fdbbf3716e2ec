// SPDX-License-Identifier: BSD-3-Clause
// incoming_messages.h - what comes in: buffers that all peers' messages arrive in, and how each
// peer learns how many of its messages the lane has taken.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/verbs/inlets.h"
#include "backends/verbs/parcel.h"
#include "backends/verbs/peers.h"
#include "backends/verbs/slots.h"
#include "transport/outbox.h"

namespace heddle::transport::verbs {

class incoming_messages {
 public:
  /// Throws error: no memory for the buffers.
  incoming_messages(const lane_queues& queues, inlets& ends, peers& known, outbox& events);

  /// The messages of the poll before have been looked at: their buffers may be offered again, which
  /// is done for some at a time.
  void recycle() noexcept {
    if (!heard_.empty()) count_heard();
    if (used_.size() >= few) offer();
  }
  /// Some have been given out and not been recycled.
  [[nodiscard]] bool lends() const noexcept { return opened_.from != nullptr || !heard_.empty(); }
  /// Some have come, or a word of an inlet.
  void take(const ibv_wc& c) noexcept;
  /// Tells of messages for which the poll before had no room any more.
  void go_on() noexcept {
    if (opened_.from != nullptr) tell_messages();
  }
  /// What an inlet had to say has left, or cannot be said.
  void on_said(const ibv_wc& c) noexcept;
  /// Asks after the peers of some inlets, in turn.
  void probe_some() noexcept;

 private:
  /// So many buffers are done without, of 64 at least: each offer takes the queue from the card,
  /// and costs as much for one as for many.
  static constexpr std::size_t few = 16;

  void count_heard() noexcept;
  [[nodiscard]] inlet* comes_with(const ibv_wc& c) noexcept;
  void tell_messages() noexcept;
  void on_word(const ibv_wc& c, std::uint32_t about) noexcept;
  void offer() noexcept;
  [[nodiscard]] bool say(inlet& to, bool how_far) noexcept;
  void tell(inlet& to) noexcept;

  const lane_queues& queues_;
  inlets& inlets_;
  peers& peers_;
  outbox& events_;
  slots buffers_;
  std::vector<std::uint32_t> used_;  // buffers to offer
  std::vector<inlet*> heard_;        // for each parcel since recycle(), whose it was
  struct {
    inlet* from = nullptr;  // null: there is none
    std::uint32_t buffer = 0;
    parcel rest;
  } opened_;  // of whose messages not all have been told
  std::vector<ibv_recv_wr> offers_;
  std::vector<ibv_sge> places_;
  std::size_t next_probe_ = 0;
};

}  // namespace heddle::transport::verbs
