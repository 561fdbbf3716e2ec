// SPDX-License-Identifier: BSD-3-Clause
// tagged.h - tagged messages on the receiver's side: posted receives and unexpected messages.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/copy.h"
#include "protocols/early_fetches.h"
#include "protocols/flow.h"
#include "protocols/matched_messages.h"
#include "protocols/matcher.h"

namespace heddle::protocols {

/// Owns receives whose announced message is being fetched; those without a message are the
/// matcher's, and those whose message was already being fetched when they were posted are of
/// early_fetches. Holder only.
class tagged final : public protocol {
 public:
  /// `most_early`: bytes of messages that are fetched before anybody has asked for them.
  tagged(path& way, peer_table& peers, operations& ops, rendezvous& large, flow& credit,
         std::size_t most_early, port_counters& counters)
      : protocol(way),
        peers_(peers),
        ops_(ops),
        rendezvous_(large),
        flow_(credit),
        counters_(counters),
        matched_(peers, ops, matcher_),
        early_(way, ops, large, matcher_, most_early) {}

  status begin(const command& c) override;
  /// As dispatch::receive.
  status receive(rank source, tag_match match, std::span<std::byte> into, const completion& done);
  /// The oldest unexpected message that `match` allows, which stays. not_found: none.
  status probe(rank source, tag_match match, outcome& found) noexcept;
  /// As dispatch::cancel.
  status cancel(const completion& which);
  /// As receive, of a message that was taken out of matching.
  status receive_taken(unexpected& message, std::span<std::byte> into, const completion& done);

  /// A message that travelled whole.
  [[gnu::always_inline]] void on_eager(peer& p, heddle::tag t, std::span<const std::byte> payload) {
    const std::uint64_t cost = credit::cost_of(payload.size());
    if (posted_receive* found = matcher_.receives.find(p.number, t)) [[likely]] {
      const posted_receive& wanted = take(*found);
      const std::size_t bytes = std::min(payload.size(), wanted.into.size());
      copy_few(wanted.into.data(), payload.first(bytes));
      const bool cut = payload.size() > bytes;
      ops_.out().finish(wanted.done, p.received(cut ? status::truncated : status::done, t, bytes));
      return flow_.repay(p, cost);
    }
    keep(p, t, payload);
  }
  void on_message(peer& from, const message& m) override;

  status start(request& r) override { return rendezvous_.start_fetch(r); }
  void ended(request& r, status code) override;

  /// Ends the receives that name `source`, oldest first.
  void end_receives(rank source, status code);
  [[nodiscard]] matcher& matching() noexcept { return matcher_; }
  [[nodiscard]] matched_messages& matched() noexcept { return matched_; }

 private:
  /// What it returns stays as it is until another receive is posted.
  posted_receive& take(posted_receive& found) noexcept {
    ops_.room().give_back();
    return matcher_.receives.take(found);
  }
  void end_receive(posted_receive& r, status code);
  void keep(peer& p, heddle::tag t, std::span<const std::byte> payload);
  [[gnu::noinline]] void deliver_unexpected(std::span<std::byte> into, const completion& done,
                                            unexpected& message);
  void on_rts(peer& p, const message& m);
  void begin_fetch(peer& p, std::span<std::byte> into, const completion& done, heddle::tag t,
                   const announcement& a);

  peer_table& peers_;
  operations& ops_;
  rendezvous& rendezvous_;
  flow& flow_;
  port_counters& counters_;
  matcher matcher_;
  matched_messages matched_;
  early_fetches early_;
};

}  // namespace heddle::protocols
