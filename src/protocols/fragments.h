// SPDX-License-Identifier: BSD-3-Clause
// fragments.h - put, get and atomics by messages, where the wire has no native way: the initiator
// cuts them into fragments and keeps a window of them in flight; the target answers each one by
// itself and keeps no state.
#pragma once
#include "protocols/path.h"

namespace heddle::protocols {

/// The initiator. Owns no requests: it carries out those of others.
class fragments final : public protocol {
 public:
  fragments(path& way, operations& ops, port_counters& counters)
      : protocol(way), ops_(ops), counters_(counters) {}

  /// Sends what the window allows: posted, or busy_queue when the wire had no room for the first
  /// fragment missing, or how it ended: a fragment cannot be sent, and none is under way.
  status start(request& r) override;
  /// The same for what the wire may do in one: by messages only where it answers unsupported.
  status start_on_wire(request& r);
  /// A reply.
  void on_message(peer& from, const message& m) override;

 private:
  status post_atomic(const request& r);
  status post_fragment(request& r);
  void on_value(request& r, const message& m, status code);
  void on_fragment(request& r, const message& m, status code);

  operations& ops_;
  port_counters& counters_;
};

/// The target.
class rma_target final : public protocol {
 public:
  rma_target(const surroundings& where, path& way) : protocol(way), where_(where) {}
  void on_message(peer& from, const message& m) override;
  /// Answers the question `m` of `to`, which was kept when there was no room for the answer.
  status say(peer& to, const message& m) override;

 private:
  void on_put(peer& from, const message& m);
  void on_atomic(peer& from, const message& m);
  const surroundings& where_;
};

}  // namespace heddle::protocols
