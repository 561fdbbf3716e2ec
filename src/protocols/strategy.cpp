#include "protocols/strategy.h"

#include <algorithm>

namespace heddle::protocols {

/// Until the first rail is measured it is held for the fastest.
std::size_t earliest_end::choose(std::uint64_t bytes, rail_set full) const noexcept {
  std::size_t best = none;
  double best_end = 0;
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    const load& l = rails_[i];
    if (!l.open || (full >> i & 1) != 0) continue;
    if (l.ns_per_byte == 0 && i != 0) {
      if (l.stripes == 0) return i;
      continue;
    }
    const double end = static_cast<double>(l.bytes + bytes) * l.ns_per_byte;
    if (best != none && end >= best_end) continue;
    best = i;
    best_end = end;
  }
  return best != none && rails_[best].stripes >= window ? none : best;
}

void earliest_end::begun(std::size_t rail, std::uint64_t bytes) noexcept {
  for (load& other : rails_) {
    other.elsewhere += bytes;
    if (other.elsewhere > stale_bytes && other.stripes == 0) other.ns_per_byte = 0;
  }
  load& l = rails_[rail];
  l.elsewhere = 0;
  ++l.stripes;
  l.bytes += bytes;
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
  const std::uint64_t from = std::max(begun_ns, l.last_end_ns);
  l.last_end_ns = now_ns;
  const double took = static_cast<double>(now_ns - std::min(from, now_ns) + 1);
  const double each = took / static_cast<double>(bytes);
  l.ns_per_byte = l.ns_per_byte == 0 ? each : (l.ns_per_byte * 3 + each) / 4;
}

}  // namespace heddle::protocols
