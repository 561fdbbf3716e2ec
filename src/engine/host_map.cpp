// SPDX-License-Identifier: BSD-3-Clause
#include "engine/host_map.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace heddle::engine {

/// Sorted by host, and those of a host by rank, a host's first rank comes before its others.
void host_map::close(const std::function<std::string_view(rank)>& name_of) {
  std::vector<std::uint32_t> order(keys_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, [this](std::uint32_t a, std::uint32_t b) {
    return std::tie(keys_[a], a) < std::tie(keys_[b], b);
  });
  host_of_.resize(keys_.size());  // the first rank there; in the end, which host that is
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || keys_[order[i]] != keys_[order[i - 1]]) first = order[i];
    host_of_[order[i]] = first;
  }
  keys_ = decltype(keys_)();
  order = decltype(order)();
  for (std::uint32_t r = 0; r < host_of_.size(); ++r) {
    const bool is_first = host_of_[r] == r;
    host_of_[r] = is_first ? static_cast<std::uint32_t>(name_ends_.size()) : host_of_[host_of_[r]];
    if (!is_first) continue;
    names_ += name_of(static_cast<rank>(r));
    name_ends_.push_back(static_cast<std::uint32_t>(names_.size()));
  }
  names_.shrink_to_fit();
  name_ends_.shrink_to_fit();
}

std::string_view host_map::name_of(int host) const noexcept {
  const auto at = static_cast<std::size_t>(host);
  const std::size_t begin = at == 0 ? 0 : name_ends_[at - 1];
  return std::string_view(names_).substr(begin, name_ends_[at] - begin);
}

int host_map::ranks_beside(rank r) const noexcept {
  const std::uint32_t here = host_of_[static_cast<std::size_t>(r)];
  return static_cast<int>(std::ranges::count(host_of_, here));
}

}  // namespace heddle::engine
