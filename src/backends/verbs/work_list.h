// SPDX-License-Identifier: BSD-3-Clause
// work_list.h - flights of a stream as work requests of its queue pair: one list, one doorbell.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/verbs/stream.h"

namespace heddle::transport::verbs {

/// The immediate value of what arrives: of a message, the number of the inlet that it comes to; of
/// a word from an inlet, the number of the stream that it is about, and this bit.
inline constexpr std::uint32_t word_bit = 0x8000'0000;

class work_list {
 public:
  /// For streams of up to `depth` flights.
  work_list(std::uint32_t depth, std::uint32_t max_inline);

  /// Issues all that the stream has not issued, for which there is `room` in the completion queue.
  /// Returns how many; not all: the card has no room now.
  std::uint32_t post(stream& s, std::uint32_t room) noexcept;

 private:
  bool describe(const stream& s, std::uint32_t position, ibv_send_wr& w) const noexcept;
  static void act(const flight& f, ibv_send_wr& w) noexcept;

  const std::uint32_t max_inline_;
  std::vector<ibv_send_wr> works_;
  std::vector<ibv_sge> parts_;  // of each request
};

}  // namespace heddle::transport::verbs
