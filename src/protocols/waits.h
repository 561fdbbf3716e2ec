// SPDX-License-Identifier: BSD-3-Clause
// waits.h - what the program waits for without moving anything: the end of its accesses, and room.
#pragma once
#include "protocols/path.h"

namespace heddle::protocols {

/// Owns flushes. Holder only.
class waits final : public protocol {
 public:
  waits(path& way, peer_table& peers, operations& ops) : protocol(way), peers_(peers), ops_(ops) {}
  /// A flush, or when_ready.
  status begin(const command& c) override;

 private:
  status flush(const command& c);

  peer_table& peers_;
  operations& ops_;
};

}  // namespace heddle::protocols
