// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_core.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "engine/progress_mode.h"
#include "engine/world_describe.h"
#include "engine/world_report.h"
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

world_core::world_core(std::unique_ptr<bootstrap::session> session, const settings& config,
                       std::shared_ptr<inline_round> inline_worlds)
    : config_(config),
      given_settings_(transport::given_settings(config_)),
      session_(std::move(session)),
      inline_worlds_(std::move(inline_worlds)),
      job_(session_->info()),
      lanes_([this](int number) { return make_lane(number); },
             [this](int number) { progress_->executor_of(number).lanes_changed(); },
             !session_->meets_after_joining()) {
  log::open(config_.log, self());
  if (config_.checks == "on") sync::look_for_misuse();
  if (!config_.trace.empty())
    trace_ = std::make_unique<trace::trace_file>(config_.trace, self(), size(),
                                                 static_cast<std::uint32_t>(config_.trace_sample),
                                                 config_.trace_events);
  progress_ = std::make_unique<world_progress>(*this, job_.local_ranks);
  inspector_ = std::make_unique<inspector>(self(), size(), [this] { return report(*this); });
  network_ = std::make_unique<engine::network>(*session_, config_, regions_);
  memory_ = std::make_unique<world_memory>(regions_, *network_, self(), size());
  assembly_ = std::make_unique<world_assembly>(*session_, lanes_, progress_->inline_executor());
  symmetric_ = std::make_unique<world_symmetric>(*memory_, *assembly_);
  session_->joined();
  lanes_.provide(0);  // peers' requests are served here even when the program opens no lane
  progress_->start();
  joined_.set();
  tell_of_start(*this);
}

world_core::~world_core() {
  end();
  lanes_.clear();
}

void world_core::end() noexcept {
  if (ended_.is_set()) return;
  ended_.set();
  log::info(log::subsystem::job, "rank {} leaves", self());
  inspector_->stop();
  progress_->end();
  linger();
  memory_->end();
  const bool parted = lanes_.end();
  write_trace();
  session_.reset();
  if (parted) network_->close();
}

/// Gives what was sent a chance to leave, for as long as the setting says.
void world_core::linger() noexcept {
  const std::uint64_t end = now_ns() + config_.linger_ms * 1'000'000;
  while (!lanes_.drained()) {
    if (now_ns() >= end)
      return log::warn(log::subsystem::job,
                       "what was sent has not all left within {} ms, and ends here as closed "
                       "(HEDDLE_LINGER_MS)",
                       config_.linger_ms);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

std::unique_ptr<lane_core> world_core::make_lane(int number) {
  const lane_routes& ways = network_->lane(number);
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
                                      .handlers = handlers_.all(),
                                      .header_handlers = handlers_.at_header()};
  executor& by = progress_->executor_of(number);
  const helpers help{.alarm = by.place(),
                     .keeper = by,
                     .team = progress_->team(),
                     .mode = mode_of(config_),
                     .spin_ns = progress_->spin_ns(),
                     .cores = network_->cores(),
                     .ranks_per_core = network_->ranks_per_core()};
  return std::make_unique<lane_core>(number, where, std::move(endpoints), help);
}

/// The ranks agree on names as they do on symmetric memory.
handler_id world_core::add_handler(std::string_view name,
                                   const std::function<void(handler_id)>& set) {
  const world_assembly::turn turn(*assembly_);
  const handler_id id = handlers_.next_named(name);
  handlers_.set_named(name, id);
  set(id);  // before any rank can know of it
  try {
    const auto other = in_context(fmt::format("name handler {}", name), [&] {
      return assembly_->find_dissent({.bytes = hash_of(name), .allowed = claim::of_a_name | id});
    });
    if (!other) return id;
    fail(
        "name handler {}: rank {} gives another name: all ranks must give the same, in the same "
        "order",
        name, other->who);
  } catch (...) {
    handlers_.forget_named(name);
    throw;
  }
}

void world_core::write_trace() noexcept {
  const std::lock_guard lock(trace_mutex_);
  if (!trace_) return;
  trace_->write({self(), size(), network_->host(self())});
  trace_.reset();
}

void world_core::abort(int status, std::string_view why) noexcept {
  write_trace();
  if (session_) session_->abort(status, why);
}

std::shared_ptr<world_core> make_world(std::unique_ptr<bootstrap::session> session,
                                       const settings& config) {
  return std::make_shared<world_core>(std::move(session), config, std::make_shared<inline_round>());
}

std::shared_ptr<world_core> make_world_beside(const world_core& first,
                                              std::unique_ptr<bootstrap::session> session,
                                              const settings& config) {
  return std::make_shared<world_core>(std::move(session), config, first.inline_worlds());
}

}  // namespace heddle::engine
