// liveness.h - peers that go silent, die or break the rules.
#pragma once
#include "protocols/calls.h"
#include "protocols/lost_peers.h"
#include "protocols/tagged.h"

namespace heddle::protocols {

/// Asks peers that owe something for a sign of life, and ends everything of those that are gone.
/// Owns no requests. Holder only.
class liveness final : public protocol, public path::loser {
 public:
  liveness(const surroundings& where, path& way, peer_table& peers, operations& ops, tagged& tags,
           calls& large_calls, port_counters& counters)
      : protocol(way),
        where_(where),
        peers_(peers),
        ops_(ops),
        tagged_(tags),
        calls_(large_calls),
        counters_(counters) {}

  /// From here on the peer is dead for this lane: what it owes us ends, nothing goes to it.
  void lose(peer& p, std::string why) override;
  /// Every now and then while anything is in flight.
  void look(std::uint64_t now_ns);
  /// Ends every operation with `code`.
  void abort(status code);

  void on_message(peer& from, const message& m) override;

 private:
  void end(peer& p);
  void end_requests(peer& p, status code);
  void look_at(peer& p, std::uint64_t now_ns);

  const surroundings& where_;
  peer_table& peers_;
  operations& ops_;
  tagged& tagged_;
  calls& calls_;
  port_counters& counters_;
};

}  // namespace heddle::protocols
