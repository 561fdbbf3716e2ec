// SPDX-License-Identifier: BSD-3-Clause
// target.h - what the peer of one connection asks of our memory.
//
// Regions are pinned around each copy, and every range is checked at that moment: a peer's slot,
// generation, offset and length are only claims, and the owner may withdraw the region meanwhile.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/tcp/write_queue.h"

namespace heddle::transport::tcp {

/// Where bool is returned, false is: the peer breaks the rules.
class target {
 public:
  target(shared_state& shared, write_queue& out) noexcept : shared_(shared), out_(out) {}

  /// `here` is what has come of the payload.
  void on_put(const frame& f, std::span<const std::byte> here) noexcept;
  /// Where the next of the last `missing` bytes of its payload go, as long as `pin` holds.
  [[nodiscard]] std::span<std::byte> place_for(const frame& f, std::size_t missing,
                                               memory::region_table::pinned& pin) noexcept;
  /// All of its payload was taken.
  bool end_put(const frame& f) noexcept;
  /// The last put that was all taken is done.
  [[nodiscard]] bool last_put_is_done() const noexcept { return last_put_code_ == status::done; }
  bool on_get(const frame& f) noexcept;
  bool on_atomic(const frame& f) noexcept;

  /// Acknowledges the puts that have ended since.
  bool write_ack() noexcept;

 private:
  bool answer(std::uint32_t id, status code, std::uint64_t value) noexcept;

  shared_state& shared_;
  write_queue& out_;
  status put_code_ = status::done;  // of the put frame under way
  status last_put_code_ = status::done;
  status part_code_ = status::done;  // of the put of several frames under way
  status ack_code_ = status::done;   // acknowledgements not written yet: this outcome,
  std::uint32_t acks_ = 0;           // this often
};

}  // namespace heddle::transport::tcp
