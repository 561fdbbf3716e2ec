// world_progress.cpp - who moves a world's lanes, and what a world lends to task schedulers.
#include "base/error.h"
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

void world_core::start_progress() {
  if (mode_of(config_) == progress_mode::inline_only) return;
  for (auto& e : executors_) e->start();
  if (team_) team_->start(static_cast<int>(config_.executors));
}

/// In mode inline nobody else moves lanes while the program waits for all ranks, and a peer may
/// need that before it comes itself.
world_core::gathering::gathering(world_core& of)
    : of_((of.gathered_.add(1), of)),
      lock_(of.session_mutex_),
      keeper_(mode_of(of.config_) == progress_mode::inline_only ? of.executors_.front().get()
                                                                : nullptr) {
  if (keeper_ != nullptr) keeper_->start();
}

world_core::gathering::~gathering() {
  if (keeper_ != nullptr) keeper_->stop();
  of_.gathered_.add(-1);
}

void world_core::barrier() {
  const gathering turn(*this);
  if (session_->meets_after_joining()) return session_->barrier();
  in_context("barrier", [this] { (void)meeting_.meet(*lanes_.front(), {}); });
}

void world_core::abort(int status, std::string_view why) noexcept {
  if (trace_) trace_->write({self(), size(), host(self())});
  if (session_) session_->abort(status, why);
}

std::size_t world_core::idle_hook() noexcept {
  std::size_t count = 0;
  if (mode_of(config_) == progress_mode::inline_only) executors_.front()->serve_inline();
  for (std::size_t i = 0; i < lanes_end_.get(); ++i)
    if (lane_core* lane = running_[i].get(); lane != nullptr) count += lane->server().progress();
  return count;
}

bool world_core::moving() const noexcept {
  for (std::size_t i = 0; i < lanes_end_.get(); ++i)
    if (const lane_core* lane = running_[i].get();
        lane != nullptr && lane->port().bytes_hint() != 0)
      return true;
  return false;
}

}  // namespace heddle::engine
