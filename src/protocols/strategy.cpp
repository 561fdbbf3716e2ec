// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/strategy.h"

#include <algorithm>

namespace heddle::protocols {

/// While no rail has been measured, all wait for their trials.
strategy::share earliest_end::choose(std::uint64_t bytes, rail_set full) const noexcept {
  const load* best = nullptr;
  double best_end = 0;
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    const load& l = rails_[i];
    if (!l.open || (full >> i & 1) != 0) continue;
    if (l.ns_per_byte == 0 && l.stripes < least_stripes) return {i, std::min(bytes, trial_bytes)};
    const double end = static_cast<double>(l.bytes + bytes) * l.ns_per_byte;
    if (l.ns_per_byte == 0 || (best != nullptr && end >= best_end)) continue;
    best = &l;
    best_end = end;
  }
  if (best == nullptr) return {};
  if (best->stripes >= least_stripes && best->bytes + bytes > window_bytes) return {};
  return {static_cast<std::size_t>(best - rails_.data()), bytes};
}

void earliest_end::begun(std::size_t rail, std::uint64_t bytes) noexcept {
  load& l = rails_[rail];
  if (l.ns_per_byte != 0) l.next_trial -= std::min(bytes, l.next_trial - soon);
  l.elsewhere = 0;
  ++l.stripes;
  l.bytes += bytes;
  for (load& other : rails_) {
    if (&other == &l || other.stripes != 0) continue;
    other.elsewhere += bytes;
    if (other.elsewhere < other.next_trial) continue;
    other.ns_per_byte = 0;
    other.elsewhere = 0;
    other.next_trial = std::min(other.next_trial * 2, rarely);
  }
}

void earliest_end::taken_back(std::size_t rail, std::uint64_t bytes) noexcept {
  --rails_[rail].stripes;
  rails_[rail].bytes -= bytes;
}

/// A rail works on one stripe after the other, so each had it from the end of the one before.
void earliest_end::ended(std::size_t rail, std::uint64_t bytes, std::uint64_t begun_ns,
                         std::uint64_t now_ns) noexcept {
  taken_back(rail, bytes);
  load& l = rails_[rail];
  if (l.busy_bytes == 0) {
    l.busy_since_ns = std::max(begun_ns, l.last_end_ns);
    l.before = l.ns_per_byte;
  }
  l.busy_bytes += bytes;
  l.last_end_ns = now_ns;
  const double remembered = l.before == 0 ? 0 : static_cast<double>(memory_bytes);
  const auto took = static_cast<double>(now_ns - l.busy_since_ns + 1);
  l.ns_per_byte = (l.before * remembered + took) / (remembered + static_cast<double>(l.busy_bytes));
  if (l.stripes == 0 || l.busy_bytes >= soon) l.busy_bytes = 0;
}

}  // namespace heddle::protocols
