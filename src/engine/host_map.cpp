#include "engine/host_map.h"

#include <algorithm>

namespace heddle::engine {

void host_map::add(std::string_view id, std::string_view name) {
  const auto next = static_cast<std::uint32_t>(name_ends_.size());
  const auto [at, fresh] = known_.try_emplace(std::string(id), next);
  host_of_.push_back(at->second);
  if (!fresh) return;
  names_ += name;
  name_ends_.push_back(static_cast<std::uint32_t>(names_.size()));
}

void host_map::close() {
  known_ = decltype(known_)();
  host_of_.shrink_to_fit();
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
