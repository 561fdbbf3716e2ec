// SPDX-License-Identifier: BSD-3-Clause
// world.cpp - heddle::world: the handle on world_core.
#include <heddle/world.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/all_settings.h"
#include "base/error.h"
#include "base/log.h"
#include "engine/progress_mode.h"
#include "engine/world_core.h"
#include "engine/world_describe.h"
#include "engine/world_session.h"
#include "protocols/delivery.h"
#include "sync/fork.h"
#include "sync/misuse.h"

namespace heddle {
namespace {

settings settings_from(const world_options& o) {
  settings chosen;
  chosen.progress = engine::name_of(o.progress);
  if (o.executors < 1 || o.executors > 64)
    fail("world_options::executors is {}: give 1 to 64", o.executors);
  chosen.executors = static_cast<std::uint64_t>(o.executors);
  chosen.executor_cores = o.executor_cores;
  const std::string unknown = transport::unknown_settings(o.settings);
  if (!unknown.empty())
    fail("world_options::settings has {}: no settings of Heddle (`heddle info` lists those)",
         unknown);
  return transport::read_all_settings(read_settings(o.settings, chosen));
}

/// One line per job: rank 0 speaks for all, and the first of its worlds.
void warn_of_unknown_settings(const settings& config, int self) {
  static std::once_flag told;
  if (self != 0) return;
  std::call_once(told, [&] {
    log::open(config.log, self);
    const std::string unknown = transport::unknown_settings();
    if (unknown.empty()) return;
    log::warn(
        log::subsystem::job,
        "{}: no settings of Heddle, and ignored; `heddle info` lists those, HEDDLE_STRICT=1 makes "
        "this an error",
        unknown);
  });
}

/// The worlds by which this process is in its job: the one that has joined it, and those beside it,
/// which stay in it behind that one's end. Any thread.
class worlds_of_process {
 public:
  /// Null: the process is in no job.
  std::shared_ptr<engine::world_core> oldest() const {
    const std::lock_guard lock(mutex_);
    for (const auto& one : cores_)
      if (auto core = living(one)) return core;
    return nullptr;
  }
  void add(const std::shared_ptr<engine::world_core>& core) {
    const std::lock_guard lock(mutex_);
    keep(core);
  }
  /// Where `first` is one of them, `core` is another.
  void add_beside(const engine::world_core& first,
                  const std::shared_ptr<engine::world_core>& core) {
    const std::lock_guard lock(mutex_);
    const auto is_first = [&](const auto& one) { return one.lock().get() == &first; };
    if (std::any_of(cores_.begin(), cores_.end(), is_first)) keep(core);
  }

 private:
  using kept = std::weak_ptr<engine::world_core>;
  static std::shared_ptr<engine::world_core> living(const kept& one) {
    auto core = one.lock();
    return core && !core->has_ended() ? core : nullptr;
  }
  void keep(const std::shared_ptr<engine::world_core>& core) {
    std::erase_if(cores_, [](const kept& one) { return living(one) == nullptr; });
    cores_.push_back(core);
  }

  mutable std::mutex mutex_;
  std::vector<kept> cores_;  // guarded by mutex_; by age
};

worlds_of_process& in_this_process() {
  static worlds_of_process all;
  return all;
}

/// What a rank's worlds do is all in the first one's trace.
std::shared_ptr<engine::world_core> join_beside(const std::shared_ptr<engine::world_core>& first,
                                                settings config) {
  config.trace.clear();
  auto made = engine::make_world_beside(*first, engine::session_over(first), config);
  in_this_process().add_beside(*first, made);
  return made;
}

std::shared_ptr<engine::world_core> join(const world_options& options) {
  sync::refuse_in_child("join the job");
  const settings config = settings_from(options);
  if (const auto first = in_this_process().oldest()) return join_beside(first, config);
  log::open(config.log, -1);
  auto session = bootstrap::join(config.join_timeout_ms);
  warn_of_unknown_settings(config, session->info().rank);
  auto made = engine::make_world(std::move(session), config);
  in_this_process().add(made);
  return made;
}

std::shared_ptr<engine::world_core> join(world& first, const world_options& options) {
  sync::refuse_in_child("join the job");
  return join_beside(first.core().shared_from_this(), settings_from(options));
}

/// The child of a fork has no executor to end, and its parent's peers are not to hear of it.
void keep_for_ever(const std::shared_ptr<engine::world_core>& core) {
  static auto* kept = new std::vector<std::shared_ptr<engine::world_core>>;
  kept->push_back(core);
}

/// Ends a program that waits for everybody on a thread that everybody may wait for.
void may_block(const engine::world_core& core) noexcept {
  if (!sync::looks_for_misuse() || !protocols::delivery_batch::mine().running()) return;
  sync::end_for_misuse({.rank = core.self()},
                       "a world's barrier or end inside a completion, a handler or a task",
                       "leave it to a thread of the program (docs/guide/threads.md)");
}

}  // namespace

world::world(const world_options& options) : world(join(options)) {}
world::world(world& first, const world_options& options) : world(join(first, options)) {}
world::world(std::shared_ptr<engine::world_core> core) : core_(std::move(core)) {
  sync::watch_forks();
}

world::~world() {
  may_block(*core_);
  if (sync::forked())
    keep_for_ever(core_);
  else
    core_->end();
}

rank world::rank() const noexcept {
  return core_->self();
}
int world::size() const noexcept {
  return core_->size();
}

region world::expose(std::span<std::byte> memory, rights allowed) {
  sync::refuse_in_child("expose memory");
  const auto made = core_->memory().expose(memory, allowed);
  return {core_, made.memory, made.of};
}

region world::allocate(std::size_t bytes, rights allowed) {
  sync::refuse_in_child("allocate memory");
  const auto made = core_->memory().allocate(bytes, allowed);
  return {core_, made.memory, made.of};
}

remote_region world::import(const key& of_peer) {
  sync::refuse_in_child("import a key");
  remote_region r;
  r.target_ = core_->memory().import(of_peer);
  return r;
}

void world::set_handler(handler_id id, call_handler function, void* context) {
  sync::refuse_in_child("set a handler");
  core_->handlers().set(id, function, context);
}

handler_id world::add_handler(std::string_view name, call_handler function, void* context) {
  may_block(*core_);
  sync::refuse_in_child("name a handler");
  return core_->add_handler(name,
                            [&](handler_id id) { core_->handlers().set(id, function, context); });
}

void world::set_header_handler(handler_id id, header_handler function, void* context) {
  sync::refuse_in_child("set a handler");
  core_->handlers().set_at_header(id, function, context);
}

handler_id world::add_header_handler(std::string_view name, header_handler function,
                                     void* context) {
  may_block(*core_);
  sync::refuse_in_child("name a handler");
  return core_->add_handler(
      name, [&](handler_id id) { core_->handlers().set_at_header(id, function, context); });
}

handler_id world::handler(std::string_view name) const {
  return core_->handlers().find(name);
}

void world::on_unknown_call(unknown_handler function, void* context) {
  sync::refuse_in_child("set a handler for unknown ids");
  core_->handlers().set_for_unknown(function, context);
}

void world::on_peer_lost(loss_handler function, void* context) {
  sync::refuse_in_child("set a handler for lost peers");
  core_->losses().set_handler(function, context);
}

void world::barrier() {
  may_block(*core_);
  sync::refuse_in_child("barrier");
  core_->assembly().barrier();
}
void world::abort(int status, std::string_view why) noexcept {
  if (status < 1 || status > 255) status = 1;
  (void)std::fflush(stdout);
  (void)std::fflush(stderr);
  if (!sync::forked()) core_->abort(status, why);
  std::_Exit(status);
}

std::size_t world::idle_hook() noexcept {
  return sync::forked() ? 0 : core_->progress().idle_hook();
}

std::string world::describe() const {
  return engine::describe(*core_);
}
std::string world::metrics() const {
  if (sync::forked()) return {};
  return engine::metrics(*core_);
}
std::string world::route(heddle::rank peer) const {
  return core_->network().route(peer);
}
std::string world::host(heddle::rank peer) const {
  return core_->network().host(peer);
}
int world::host_number(heddle::rank peer) const noexcept {
  return core_->network().host_number(peer);
}

}  // namespace heddle
