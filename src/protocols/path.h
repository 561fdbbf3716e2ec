// SPDX-License-Identifier: BSD-3-Clause
// path.h - the way to the wire that all protocols share: each peer's order, batch and backlog.
//
// To one peer everything goes out in the order in which it was accepted: first what lies in the
// batch, then control messages, then the backlog. Nothing enters a backlog past the batch.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "protocols/operations.h"
#include "protocols/peer.h"
#include "protocols/post_batch.h"
#include "protocols/surroundings.h"
#include "sync/counters.h"

namespace heddle::protocols {

class path : private post_batch::refusals {
 public:
  using kind_table = std::array<protocol*, message_kinds>;
  /// Who is told that a peer is lost.
  class loser {
   public:
    virtual void lose(peer& p, std::string why) = 0;

   protected:
    ~loser() = default;
  };

  /// `kinds`: who sends control messages of a kind that were kept.
  path(operations& ops, port_counters& counters, const kind_table& kinds, loser& losses)
      : ops_(ops), counters_(counters), kinds_(kinds), losses_(losses), batch_(*this, counters) {}

  // --- messages: done, busy_queue (no room now; nothing changed), or why it can never be sent ---
  status post(peer& p, const transport::message_head& head, std::span<const std::byte> header,
              std::span<const std::byte> data);
  status post(peer& p, const message& m, std::span<const std::byte> data = {});
  /// A protocol's own message, which goes out in any case, or the peer is lost. What the program
  /// can cause without end must not come while has_many() says so, nor be queued for the lane while
  /// is_crowded() does. What a peer causes is bounded here: beyond that the peer is lost.
  void control(peer& p, const message& m);
  /// Nothing goes to this peer any more.
  void forget(peer& p) noexcept {
    kept_.subtract(p.control.size());
    p.control.clear();
  }

  /// So many control messages wait already that the program should wait with what causes more.
  [[nodiscard]] static bool has_many(const peer& p) noexcept { return p.control.size() >= many; }
  /// The same of all peers together; any thread, a hint.
  [[nodiscard]] bool is_crowded() const noexcept { return kept_.get() >= many; }

  // --- requests -------------------------------------------------------------------------
  /// Starts one just begun: `posted`, or how it ended at once, in which case it is released and its
  /// completion not delivered.
  status submit(request& r);
  /// Goes on with one that was accepted before.
  void resume(request& r);
  /// Puts it behind all that waits for its peer. It is started again when there is room.
  void enqueue(request& r);
  /// For start(): gives its op to the wire, or to the batch. posted, done, busy_queue, or why not.
  status post(request& r);

  /// While it is open, what post(request&) gets is kept back in it.
  [[nodiscard]] post_batch& batch() noexcept { return batch_; }

  // --- progress -------------------------------------------------------------------------
  void flush_blocked();
  /// The same before nobody looks for a while: what waits for more than room goes without it,
  /// unless its protocol knows of somebody who looks.
  void flush_for_rest() {
    last_call_ = true;
    flush_blocked();
    last_call_ = false;
  }
  [[nodiscard]] bool is_last_call() const noexcept { return last_call_; }
  [[nodiscard]] bool blocked() const noexcept { return !blocked_.empty(); }
  /// The peers are gone.
  void close() noexcept { blocked_.clear(); }

  // --- peers that go --------------------------------------------------------------------
  void lose(peer& p, std::string why) { losses_.lose(p, std::move(why)); }
  /// It sent what no honest engine sends: it is not talked to any more.
  void violated(peer& p);

 private:
  [[nodiscard]] static const rail& rail_of(const request& r) noexcept;
  [[nodiscard]] static status post_on(const rail& on, transport::op& o, const peer& p);
  void refused(request& r, status reason) override;
  void unreachable(peer& p, status refusal);
  void block(peer& p);
  bool flush(peer& p);

  static constexpr std::size_t many = 1024;

  operations& ops_;
  port_counters& counters_;
  const kind_table& kinds_;
  loser& losses_;
  sync::owned_counter kept_;  // control messages that wait; written by the holder, read by anyone
  std::vector<peer*> blocked_;
  bool last_call_ = false;  // within flush_for_rest()
  post_batch batch_;
};

}  // namespace heddle::protocols
