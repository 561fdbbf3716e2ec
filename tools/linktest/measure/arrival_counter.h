// SPDX-License-Identifier: BSD-3-Clause
// arrival_counter.h - counts what calls and notifications of a peer bring, and puts calls' data in
// place.
#pragma once
#include <heddle/world.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::linktest {

/// Each visit has a ticket, which its peer gives back with everything it sends: what comes late,
/// from a visit that was given up, is dropped.
///
/// Handlers run on any thread; all else is for one thread at a time. Must outlive the world, in
/// which handlers 4 and 5 are its own.
class arrival_counter {
 public:
  enum id : handler_id { notice = 4, delivery = 5 };
  /// What a call of the link tester begins with.
  struct label {
    std::uint64_t ticket, offset;  ///< offset: bytes into the memory
  };

  /// Sets the handlers. `memory` is where calls' data goes: it lives as long as messages may come.
  void join(world& job, std::span<std::byte> memory);
  /// The next visit's ticket, to be told to its peer; counting begins anew.
  [[nodiscard]] std::uint64_t begin_visit();
  /// Counts them all, of all visits.
  [[nodiscard]] counter& all() noexcept { return arrived_; }
  /// What all() is at when the visit's next `count` have come.
  [[nodiscard]] std::uint64_t expect(std::uint64_t count) noexcept { return expected_ += count; }

 private:
  static void on_notice(void* self, lane& here, const call_message& m) noexcept;
  static void on_delivery(void* self, lane& here, const call_message& m) noexcept;
  void count(std::uint64_t ticket) noexcept;

  std::span<std::byte> memory_;
  counter tickets_;  // as many as visits have begun: handlers read it on other threads
  counter arrived_;
  std::uint64_t expected_ = 0;
};

}  // namespace heddle::linktest
