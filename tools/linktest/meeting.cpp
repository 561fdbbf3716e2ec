// meeting.cpp - the dissemination barrier.
#include "linktest/meeting.h"

namespace heddle::linktest {

std::uint32_t meeting::meet(std::uint32_t notes) {
  constexpr unsigned round_bits = 6;
  const int n = wire_.size();
  const std::uint64_t number = held_++;
  unsigned round = 0;
  for (std::int64_t distance = 1; distance < n; distance *= 2, ++round) {
    const tag t = tag_for(purpose::meeting, number << round_bits | round);
    const auto to = static_cast<rank>((wire_.self() + distance) % n);
    const auto from = static_cast<rank>((wire_.self() - distance + n) % n);
    std::uint32_t heard = 0;
    if (!lost(to) && wire_.send(to, t, std::as_bytes(std::span(&notes, 1))) != status::done)
      lose(to);
    if (lost(from)) continue;
    if (wire_.recv(from, t, std::as_writable_bytes(std::span(&heard, 1)), patience::meeting) ==
        status::done)
      notes |= heard;
    else
      lose(from);
  }
  return notes;
}

}  // namespace heddle::linktest
