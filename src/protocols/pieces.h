// SPDX-License-Identifier: BSD-3-Clause
// pieces.h - transfers that this process's processor does, a piece in each turn, so that a message
// of a gigabyte does not keep its lane from everything else.
#pragma once
#include <cstddef>
#include <cstdint>

#include "protocols/path.h"

namespace heddle::protocols {

/// Copies through mappings, and on wires whose post() copies. Holder only.
class pieces {
 public:
  pieces(const surroundings& where, path& way) : where_(where), path_(way) {}

  /// Copied in one turn: long enough that turning costs nothing, and half as long as a sleep.
  static constexpr std::uint64_t piece_bytes = 256 * 1024;
  /// Whether what `r` fetches can be read here as it lies.
  [[nodiscard]] bool is_mapped(const request& r) { return r.mappable && map(r) != nullptr; }
  /// done: the next piece was the last. posted: more will follow. Else as protocol::start;
  /// unsupported goes on by messages.
  status start(request& r);
  /// The wire has ended a piece.
  void ended(request& r, status code);

  [[nodiscard]] bool none() const noexcept { return turns_.empty(); }
  /// One piece of one transfer, in turn; there is one. Returns how many things happened.
  std::size_t move_next();

 private:
  const detail::remote_target* map(const request& r);
  static mapped_region& place_for_mapping(peer& p) noexcept;
  status move(request& r);
  bool copy_mapped(request& r, std::uint64_t bytes);
  void await_turn(request& r) noexcept;

  const surroundings& where_;
  path& path_;
  request_queue turns_;
};

}  // namespace heddle::protocols
