// traits.h - what a device can do, as data.
#pragma once
#include <cstddef>

#include "transport/op.h"

namespace heddle::transport {

/// What a device can do. Constant after open.
struct traits {
  op_set native = only(op_kind::send);  ///< kinds post() takes; the engine emulates the others
  std::size_t max_message = 0;          ///< bytes of header + data in one send
  /// A send posted after a put to the same peer arrives after the put's bytes. Sends to one peer
  /// arrive in order in any case.
  bool ordered = true;
  /// post() itself copies the bytes of a put or get: the engine gives it large ones in pieces.
  bool copies_in_post = false;
  bool defers = false;      ///< post() may leave output for the next poll() to send (batching)
  bool cpu_atomics = true;  ///< native atomics and the CPU's on one word see each other
  /// post() may answer posted for an op that ends as `unsupported`: whoever cannot know at once.
  bool refuses_late = false;
};

}  // namespace heddle::transport
