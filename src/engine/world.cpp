// world.cpp - heddle::world: the handle on world_core.
#include <heddle/world.h>

#include "base/error.h"
#include "engine/progress_mode.h"
#include "engine/world_core.h"

namespace heddle {
namespace {

settings settings_from(const world_options& o) {
  settings chosen;
  chosen.progress = engine::name_of(o.progress);
  if (o.executors < 1 || o.executors > 64)
    fail("world_options::executors is {}: give 1 to 64", o.executors);
  chosen.executors = static_cast<std::uint64_t>(o.executors);
  chosen.executor_cores = o.executor_cores;
  return read_settings(chosen);
}

}  // namespace

world::world(const world_options& options)
    : world(engine::make_world(bootstrap::join(), settings_from(options))) {}
world::world(std::shared_ptr<engine::world_core> core) : core_(std::move(core)) {}
world::~world() = default;

rank world::rank() const noexcept {
  return core_->self();
}
int world::size() const noexcept {
  return core_->size();
}

region world::expose(std::span<std::byte> memory, rights allowed) {
  return core_->expose(memory, allowed);
}

region world::allocate(std::size_t bytes, rights allowed) {
  return core_->allocate(bytes, allowed);
}

remote_region world::import(const key& of_peer) {
  remote_region r;
  r.target_ = core_->import(of_peer);
  return r;
}

void world::set_handler(handler_id id, call_handler function, void* context) {
  core_->set_handler(id, function, context);
}

void world::barrier() {
  core_->barrier();
}
std::size_t world::idle_hook() noexcept {
  return core_->idle_hook();
}

std::string world::describe() const {
  return core_->describe();
}
std::string world::route(heddle::rank peer) const {
  return core_->route(peer);
}
std::string world::host(heddle::rank peer) const {
  return core_->host(peer);
}
int world::host_number(heddle::rank peer) const noexcept {
  return core_->host_number(peer);
}

}  // namespace heddle
