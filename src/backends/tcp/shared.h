// SPDX-License-Identifier: BSD-3-Clause
// shared.h - what the connections of one endpoint share, and how an op of theirs ends.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/tcp/fifo.h"
#include "memory/region_table.h"
#include "transport/event.h"

namespace heddle::transport::tcp {

class connection;

/// In the scratch of an op that has ended and is not told yet.
struct op_notes {
  status code = status::done;  ///< how it ended
};

struct shared_state {
  shared_state(memory::region_table& table, std::size_t chunk)
      : regions(table), chunk_bytes(chunk) {}

  /// `o` is over.
  void end(op& o, status code) noexcept {
    ++room_made;
    o.make_notes<op_notes>().code = code;
    ended.push(&o);
  }

  memory::region_table& regions;
  std::size_t chunk_bytes;  ///< payload of one fragment
  fifo<op*> ended;          ///< and not told yet
  /// Connections that ended, or were chosen by the peer, which the endpoint has not noticed yet.
  std::vector<connection*> changed;
  /// What makes room for posts, counted: ops ended, bytes written, connections made. It tells
  /// arm() whether a post that was refused might be taken now.
  std::uint64_t room_made = 0;
  std::array<std::byte, 64 * 1024> nowhere;  ///< takes what nobody wants any more; never read
};

}  // namespace heddle::transport::tcp
