// SPDX-License-Identifier: BSD-3-Clause
// address_book.h - where each peer can be connected to, in little memory, and what was learned of
// it.
//
// A peer has several addresses: of both families, of several interfaces, some of which may not lead
// to it. Those that answered are tried first the next time, for other peers too: hosts of a job
// tend to be alike, so what has the same place in their lists is the same network.
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/tcp/address.h"

namespace heddle::transport::tcp {

/// One thread at a time.
class address_book {
 public:
  /// An address, and its place in the list that the peer gave.
  struct entry {
    rail_address at;
    std::size_t place = 0;
  };

  explicit address_book(int size) : size_(size) {}

  /// Of a rank of the job: what there is to try, in the order to try it, places below
  /// max_addresses. In place of what was said of it before.
  void add(rank peer, std::span<const entry> entries);
  [[nodiscard]] bool knows(rank peer) const noexcept;
  /// What was added, best first by what is known by now.
  [[nodiscard]] std::vector<entry> find(rank peer) const;
  /// `peer` has answered at the address of this place ...
  void answered(rank peer, std::size_t place) noexcept;
  /// ... or has not, or later than at another.
  void failed(std::size_t place) noexcept { failures_[place] = true; }
  /// Memory of all peers together.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return pool_.capacity() + begins_.capacity() * sizeof begins_[0];
  }

 private:
  // Of a peer: count 1, place that answered 1 (none: nowhere), then for each: place 1, and the
  // address as by pack().
  static constexpr std::byte nowhere{0xff};

  int size_;
  std::vector<std::uint32_t> begins_;  // by rank, in the pool; 0: unknown. Empty: nobody is known
  std::vector<std::byte> pool_;
  std::array<bool, max_addresses> failures_{};   // by place: has failed where another answered,
  std::array<bool, max_addresses> successes_{};  // or has answered
};

}  // namespace heddle::transport::tcp
