// world.cpp - heddle::world: the handle on world_core.
#include <heddle/world.h>

#include "base/checks.h"
#include "engine/world_core.h"
#include "protocols/delivery.h"

namespace heddle {
namespace {

/// Debug builds end a program that waits for everybody on a thread that everybody may wait for.
void may_block() noexcept {
  if constexpr (checking) {
    check(!protocols::delivery_batch::mine().running(),
          "a world's barrier or end inside a completion, a handler or a task, which must not block "
          "(docs/guide/threads.md)");
  }
}

}  // namespace

world::world() : world(engine::make_world(bootstrap::join(), read_settings())) {}
world::world(std::shared_ptr<engine::world_core> core) : core_(std::move(core)) {}

world::~world() {
  may_block();
}

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
  may_block();
  core_->barrier();
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
