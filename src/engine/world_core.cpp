#include "engine/world_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "engine/progress_mode.h"
#include "sync/misuse.h"

namespace heddle::engine {
namespace {

/// FNV-1a: the same in every process.
constexpr std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

world_core::world_core(std::unique_ptr<bootstrap::session> session, const settings& config)
    : config_(config),
      session_(std::move(session)),
      job_(session_->info()),
      spin_ns_(choose_spin()) {
  log::open(config_.log, self());
  if (config_.checks == "on") sync::look_for_misuse();
  if (!config_.trace.empty())
    trace_ = std::make_unique<trace::trace_file>(config_.trace, self(), size(),
                                                 static_cast<std::uint32_t>(config_.trace_sample),
                                                 config_.trace_events);
  const auto count = mode_of(config_) == progress_mode::dedicated ? config_.executors : 1;
  for (int i = 0; i < static_cast<int>(count); ++i)
    executors_.push_back(std::make_unique<executor>(*this, i, static_cast<int>(count)));
  if (mode_of(config_) == progress_mode::idle) team_ = std::make_unique<idle_team>(*this);
  inspector_ = std::make_unique<inspector>(self(), size(), [this] { return report(); });
  meet_peers();
  open_devices();
  choose_routes();
  session_->joined();
  open_lane_zero();
  start_progress();
  joined_.set();
  tell_of_start();
}

world_core::~world_core() {
  end();
  for (auto& lane : lanes_) lane.reset();
}

void world_core::end() noexcept {
  if (std::exchange(ended_, true)) return;
  log::info(log::subsystem::job, "rank {} leaves", self());
  inspector_->stop();
  if (team_) team_->stop();
  for (auto& e : executors_) e->stop();
  linger();
  imported_->unmap_all();
  bool parted = true;
  for (const auto& lane : lanes_)
    if (lane) lane->end();
  for (const auto& lane : lanes_)
    if (lane) parted = lane->part() && parted;
  if (trace_) trace_->write({self(), size(), host(self())});
  trace_.reset();
  session_.reset();
  if (!parted) return;  // a thread still sleeps on descriptors of theirs
  devices_.clear();
  backends_.clear();
}

/// Gives what was sent a chance to leave, for as long as the setting says.
void world_core::linger() noexcept {
  const std::uint64_t end = now_ns() + config_.linger_ms * 1'000'000;
  for (;;) {
    bool quiet = true;
    for (const auto& lane : lanes_) {
      if (!lane) continue;
      lane->server().progress();
      lane->server().maintain(now_ns());
      quiet = quiet && lane->quiet();
    }
    if (quiet) return;
    if (now_ns() >= end)
      return log::warn(log::subsystem::job,
                       "what was sent has not all left within {} ms, and ends here as closed "
                       "(HEDDLE_LINGER_MS)",
                       config_.linger_ms);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// --- lanes -----------------------------------------------------------------------------

/// With mutex_ held, or before other threads exist.
lane_core& world_core::lane_at(int number) {
  auto& slot = lanes_[static_cast<std::size_t>(number)];
  if (slot) return *slot;
  const lane_routes& ways = routes_->of(number);
  std::vector<std::unique_ptr<transport::endpoint>> endpoints;
  in_context(fmt::format("open lane {}", number), [&] {
    for (transport::device* d : ways.devices) endpoints.push_back(d->make_endpoint(number));
  });
  const protocols::surroundings where{.lane = number,
                                      .self = self(),
                                      .size = size(),
                                      .config = &config_,
                                      .regions = &regions_,
                                      .losses = &losses_,
                                      .devices = ways.devices,
                                      .backends = ways.backends,
                                      .route = ways.route,
                                      .atomic_route = ways.atomics,
                                      .handlers = handlers_.all()};
  executor& keeper = *executors_[static_cast<std::size_t>(number) % executors_.size()];
  const helpers help{.keeper = keeper,
                     .team = team_.get(),
                     .mode = mode_of(config_),
                     .spin_ns = spin_ns(),
                     .cores = cores_};
  slot = std::make_unique<lane_core>(number, where, std::move(endpoints), help);
  const auto index = static_cast<std::size_t>(number);
  running_[index].set(slot.get());
  lanes_end_.set(std::max<std::uint64_t>(lanes_end_.get(), index + 1));
  keeper.lanes_changed();
  return *slot;
}

void world_core::open_lane_zero() {
  const std::lock_guard lock(mutex_);
  lane_at(0);  // peers' requests are served here even when the program opens no lane
}

lane_core& world_core::open_lane(int number, bool exclusive) {
  const std::lock_guard lock(mutex_);
  if (number == -1) {
    const auto free = std::find_if(opened_.begin(), opened_.end(),
                                   [](const sync::event_bit& taken) { return !taken.is_set(); });
    number = static_cast<int>(free - opened_.begin());
  }
  if (number < 0 || number >= max_lanes) {
    fail("open lane {}: lanes are numbered 0 to {}", number, max_lanes - 1);
  }
  if (opened(number)) {
    fail(
        "open lane {}: this process has opened it already; share that one, or use the next free "
        "number (-1)",
        number);
  }
  lane_core& lane = lane_at(number);
  // The ranks meet on lane 0, from whichever thread of the program.
  const bool shared = number == 0 && session_ && !session_->meets_after_joining();
  lane.open(exclusive && !shared);
  opened_[static_cast<std::size_t>(number)].set();
  executors_[static_cast<std::size_t>(number) % executors_.size()]->lanes_changed();
  return lane;
}

void world_core::close_lane(int number) noexcept {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(number);
  lanes_[index]->close();
  opened_[index].clear();
}

void world_core::for_each_lane(const std::function<void(lane_core&)>& f) {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) {
    if (lane) f(*lane);
  }
}

/// The ranks agree on names as they do on symmetric memory, whose claims have rights below this.
handler_id world_core::add_handler(std::string_view name, call_handler function, void* context) {
  constexpr std::uint64_t of_a_name = std::uint64_t{1} << 32;
  const gathering turn(*this);
  const handler_id id = handlers_.next_named(name);
  handlers_.set_named(name, id, function, context);  // before any rank can know of it
  try {
    const auto other = in_context(fmt::format("name handler {}", name), [&] {
      return find_dissent({.bytes = hash_of(name), .allowed = of_a_name | id});
    });
    if (!other) return id;
    fail(
        "name handler {}: rank {} gives another name: all ranks must give the same, in the same "
        "order",
        name, *other);
  } catch (...) {
    handlers_.forget_named(name);
    throw;
  }
}

// --- for the executor ------------------------------------------------------------------

std::size_t world_core::serve_devices() {
  for (transport::device* d : devices_) {
    for (int wanted = d->serve(); wanted >= 0 && wanted < max_lanes; wanted = d->serve())
      wanted_lanes_.push_back(wanted);
  }
  return std::erase_if(wanted_lanes_, [&](int wanted) { return make_wanted(wanted); });
}

/// False: not now, for lack of descriptors perhaps. Meanwhile what peers send to the lane waits.
bool world_core::make_wanted(int lane) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    lane_at(lane);
    return true;
  } catch (const std::exception& e) {
    if (!std::exchange(told_of_wanted_, true))
      log::error(log::subsystem::progress, "a peer uses lane {}, which cannot be made here: {}",
                 lane, e.what());
    return false;
  }
}

std::uint64_t world_core::maintain_interval_ms() const noexcept {
  return std::clamp<std::uint64_t>(config_.peer_timeout_ms / 8, 5, 1000);
}

std::shared_ptr<world_core> make_world(std::unique_ptr<bootstrap::session> session,
                                       const settings& config) {
  return std::make_shared<world_core>(std::move(session), config);
}

}  // namespace heddle::engine
