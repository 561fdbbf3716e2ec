// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_progress.h"

#include <fmt/format.h>

#include "base/wake_cost.h"
#include "engine/placement.h"
#include "engine/progress_mode.h"
#include "engine/world_core.h"

namespace heddle::engine {
namespace {

/// With more ranks than cores a wake costs what the others make it cost, and the usual budget has
/// proved itself (docs/design/lane.md).
std::uint64_t choose_spin_ns(const settings& config, int local_ranks) {
  if (config.spin_us != automatic) return config.spin_us * 1000;
  const auto cores = static_cast<int>(usable_cores().size());
  if (local_ranks > cores) return default_spin_us * 1000;
  return spin_budget_ns(wake_cost_ns());
}

}  // namespace

world_progress::world_progress(world_core& world, int local_ranks)
    : world_(world), spin_ns_(choose_spin_ns(world.config(), local_ranks)) {
  const progress_mode mode = mode_of(world.config());
  const auto count =
      mode == progress_mode::dedicated ? static_cast<int>(world.config().executors) : 1;
  for (int i = 0; i < count; ++i)
    executors_.push_back(std::make_unique<executor>(world, i, count, spin_ns_));
  if (mode == progress_mode::idle) team_ = std::make_unique<idle_team>(world.lanes(), spin_ns_);
}

void world_progress::start() {
  if (executor* const one = inline_executor()) return one->leave_to_others();
  for (auto& e : executors_) e->start();
  if (team_) team_->start(static_cast<int>(world_.config().executors));
}

void world_progress::end() noexcept {
  if (team_) team_->stop();
  for (auto& e : executors_) e->end();
}

executor* world_progress::inline_executor() const noexcept {
  return mode_of(world_.config()) == progress_mode::inline_only ? executors_.front().get()
                                                                : nullptr;
}

std::size_t world_progress::idle_hook() noexcept {
  if (executor* const one = inline_executor()) one->serve_inline();
  return world_.lanes().progress();
}

std::size_t world_progress::threads() const noexcept {
  return executors_.size() + (team_ ? world_.config().executors : 0);
}

std::string world_progress::describe() const {
  const settings& config = world_.config();
  std::string text =
      fmt::format("progress {}\n  awake for {} us before a sleep{}\n", name_of(mode_of(config)),
                  spin_ns_ / 1000, config.spin_us == automatic ? " (HEDDLE_SPIN_US=auto)" : "");
  for (std::size_t i = 0; i < executors_.size(); ++i) {
    executor& e = *executors_[i];
    text += fmt::format("  executor {} {}, woken {} times ({} by threads), {} ticks\n", i,
                        e.core() < 0 ? "on any core" : fmt::format("on core {}", e.core()),
                        e.place().wakes(), e.place().rings(), e.place().ticks());
  }
  if (team_)
    text += fmt::format("  {} idle helpers, woken {} times, hurried {} times\n", config.executors,
                        team_->wakes(), team_->boosts());
  return text;
}

}  // namespace heddle::engine
