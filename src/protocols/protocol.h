// SPDX-License-Identifier: BSD-3-Clause
// protocol.h - one way of the lane's to get something done with a peer.
#pragma once
#include <heddle/status.h>

#include "protocols/message.h"
#include "protocols/request.h"

namespace heddle::protocols {

class path;
struct peer;

/// Owns requests, or none, and handles the messages that belong to them. Holder only; nothing here
/// blocks or calls the program. Protocols know of each other what their constructors say, and share
/// peers, requests (operations.h) and the way to the wire (path.h).
class protocol {
 public:
  explicit protocol(path& way) noexcept : path_(way) {}
  protocol(const protocol&) = delete;

  /// Starts what the program asks for by a command of a kind that is this protocol's (the table is
  /// in port.cpp): done, posted, or why not.
  virtual status begin(const command& /*c*/) { return status::invalid; }
  /// Hands a request of this protocol to the wire, for the first time or again. It is in hand
  /// before. posted: it is on its way, and its stage says where. busy_queue: no room; path asks
  /// again in the peer's order. Else how it ended, which is the caller's to tell.
  virtual status start(request& /*r*/) { return status::invalid; }
  /// It is over: after start() answered posted, or after it waited. It is in hand.
  virtual void ended(request& /*r*/, status /*code*/) {}

  /// A message of a kind that is this protocol's (the table is in port.cpp).
  virtual void on_message(peer& /*from*/, const message& /*m*/) {}
  /// Sends a control message of such a kind, or what it stands for: done, busy_queue, or why it can
  /// never be sent.
  virtual status say(peer& to, const message& m);

 protected:
  ~protocol() = default;
  path& path_;
};

}  // namespace heddle::protocols
