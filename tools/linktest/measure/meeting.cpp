// SPDX-License-Identifier: BSD-3-Clause
// meeting.cpp - the dissemination barrier.
#include "linktest/measure/meeting.h"

#include <algorithm>
#include <array>
#include <cstddef>

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

rank meeting::choose_recorder() {
  std::vector<bool> known = lost_;
  // To find out, to tell it, and to tell it to those that have been lost by somebody.
  for (std::uint64_t pass = 0; pass < 3; ++pass) tell_losses(pass, known);
  const auto fine = std::find(known.begin(), known.end(), false);
  return fine == known.end() ? 0 : static_cast<rank>(fine - known.begin());
}

/// All are sent before any is received, small as they are.
void meeting::talk_to_all() {
  const int n = wire_.size();
  const tag t = tag_for(purpose::all_to_all, 0);
  std::array<std::byte, 1> mine{}, theirs{};
  for (std::int64_t distance = 1; distance < n; ++distance) {
    const auto to = static_cast<rank>((wire_.self() + distance) % n);
    if (!lost(to) && wire_.send(to, t, mine) != status::done) lose(to);
  }
  for (std::int64_t distance = 1; distance < n; ++distance) {
    const auto from = static_cast<rank>((wire_.self() - distance + n) % n);
    if (!lost(from) && wire_.recv(from, t, theirs, patience::meeting) != status::done) lose(from);
  }
}

/// Everybody to everybody, since with dead ranks meet() has no way from each to each. One bit per
/// rank, so that the messages are small enough to be sent before anybody receives.
void meeting::tell_losses(std::uint64_t pass, std::vector<bool>& known) {
  const auto n = static_cast<std::size_t>(wire_.size());
  std::vector<std::byte> mine((n + 7) / 8), theirs(mine.size());
  for (std::size_t r = 0; r < n; ++r)
    if (known[r]) mine[r / 8] |= std::byte{1} << (r % 8);
  const tag t = tag_for(purpose::losses, pass);
  for (std::int64_t distance = 1; distance < wire_.size(); ++distance) {
    const auto to = static_cast<rank>((wire_.self() + distance) % wire_.size());
    if (!lost(to) && wire_.send(to, t, mine) != status::done) lose(to);
  }
  for (rank from = 0; from < wire_.size(); ++from) {
    if (from == wire_.self()) continue;
    if (!lost(from) && wire_.recv(from, t, theirs, patience::meeting) != status::done) lose(from);
    if (lost(from)) {
      known[static_cast<std::size_t>(from)] = true;
      continue;
    }
    for (std::size_t r = 0; r < n; ++r)
      if ((theirs[r / 8] >> (r % 8) & std::byte{1}) != std::byte{0}) known[r] = true;
  }
}

}  // namespace heddle::linktest
