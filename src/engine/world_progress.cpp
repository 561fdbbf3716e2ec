// SPDX-License-Identifier: BSD-3-Clause
// world_progress.cpp - who moves a world's lanes, and what a world lends to task schedulers.
#include <algorithm>

#include "base/wake_cost.h"
#include "engine/placement.h"
#include "engine/progress_mode.h"
#include "engine/world_core.h"

namespace heddle::engine {

/// With more ranks than cores a wake costs what the others make it cost, and the usual budget has
/// proved itself (docs/design/lane.md).
std::uint64_t world_core::choose_spin() const {
  if (config_.spin_us != automatic) return config_.spin_us * 1000;
  const auto cores = static_cast<int>(usable_cores().size());
  if (job_.local_ranks > cores) return default_spin_us * 1000;
  return spin_budget_ns(wake_cost_ns());
}

executor* world_core::inline_executor() const noexcept {
  return mode_of(config_) == progress_mode::inline_only ? executors_.front().get() : nullptr;
}

void world_core::start_progress() {
  if (mode_of(config_) == progress_mode::inline_only) return executors_.front()->leave_to_others();
  for (auto& e : executors_) e->start();
  if (team_) team_->start(static_cast<int>(config_.executors));
}

std::uint64_t world_core::maintain_interval_ms() const noexcept {
  return std::clamp<std::uint64_t>(config_.peer_timeout_ms / 8, 5, 1000);
}

std::size_t world_core::idle_hook() noexcept {
  if (mode_of(config_) == progress_mode::inline_only) executors_.front()->serve_inline();
  return lanes_.progress();
}

}  // namespace heddle::engine
