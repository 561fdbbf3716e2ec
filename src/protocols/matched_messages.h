// SPDX-License-Identifier: BSD-3-Clause
// matched_messages.h - messages that the program has taken out of matching, and payloads of calls,
// of which it says later where they are to go.
#pragma once
#include "protocols/matcher.h"
#include "protocols/operations.h"

namespace heddle::protocols {

/// What a header handler is given as the payload of its call, in bytes.
struct held_payload {
  detail::taken_message message;
  engine::lane_core* lane;
};

/// Holds them until they are received. Holder only.
class matched_messages {
 public:
  matched_messages(peer_table& peers, operations& ops, matcher& matching) noexcept
      : peers_(peers), ops_(ops), matcher_(matching) {}

  /// As tagged::probe, but takes the message out of matching.
  status take(rank source, tag_match match, detail::taken_message& found) noexcept;
  /// The same, but waits for a message if there is none: as dispatch::receive, which takes its
  /// data.
  status take_or_wait(rank source, tag_match match, detail::taken_message& into,
                      const completion& done);
  /// Gives a message that has just come to who waits to take it. False: nobody does, and it is as
  /// it was.
  [[nodiscard]] bool give(unexpected& message);
  /// A message of nobody's matching that has come from `p`, to be filled and held.
  [[nodiscard]] unexpected& fresh(peer& p);
  detail::taken_message hold(unexpected& message) noexcept;
  /// It is received now, and not held any more.
  unexpected& release(unexpected& held) noexcept;

 private:
  peer_table& peers_;
  operations& ops_;
  matcher& matcher_;
  list<unexpected, &unexpected::in_arrival> held_;
};

}  // namespace heddle::protocols
