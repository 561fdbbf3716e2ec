// SPDX-License-Identifier: BSD-3-Clause
// world.cpp - c.h: joining the job, and memory that peers may address.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "c/convert.h"

using heddle::c::of;
using heddle::c::or_failed;

struct heddle_region {
  heddle::region region;
};
struct heddle_remote {
  heddle::remote_region region;
};
struct heddle_symmetric {
  heddle::symmetric<std::byte> array;
};

namespace {

heddle::rights rights_of(unsigned rights) noexcept {
  return static_cast<heddle::rights>(rights & HEDDLE_ALL_RIGHTS);
}

/// What C is called by, for a text that ends with a zero byte.
struct loss_listener {
  loss_listener(heddle_loss_handler f, void* c) : function(f), context(c) {}
  heddle_loss_handler function;
  void* context;
  static void hear(void* self, heddle::rank peer, std::string_view why) noexcept {
    const auto& l = *static_cast<const loss_listener*>(self);
    l.function(l.context, peer, std::string(why).c_str());
  }
};

/// What has no value is refused with the name.
std::map<std::string, std::string> settings_of(const char* const* given) {
  std::map<std::string, std::string> all;
  for (; given != nullptr && *given != nullptr; ++given) {
    const std::string_view pair = *given;
    const std::size_t end = pair.find('=');
    if (end == std::string_view::npos)
      throw heddle::error("heddle_world_options.settings has \"" + std::string(pair) +
                          "\": give NAME=VALUE");
    all.insert_or_assign(std::string(pair.substr(0, end)), std::string(pair.substr(end + 1)));
  }
  return all;
}

/// Of set-up that has no answer: heddle_error() has the reason.
template <class F>
void remembering(F&& set_up) noexcept {
  static_cast<void>(or_failed(false, [&] {
    set_up();
    return true;
  }));
}

/// The caller's, in the part of the structure that it knows.
heddle::world_options options_of(const heddle_world_options* given) {
  heddle_world_options known;
  heddle_world_options_init(&known, sizeof known);
  if (given != nullptr) std::memcpy(&known, given, std::min(given->size, sizeof known));
  return {.progress = static_cast<heddle::progress_mode>(known.progress),
          .executors = known.executors,
          .executor_cores = known.executor_cores != nullptr ? known.executor_cores : "near",
          .settings = settings_of(known.settings)};
}

}  // namespace

void heddle_world_options_init(heddle_world_options* options, size_t size) {
  heddle::c::begin_sized(options, size,
                         {.size = 0,
                          .progress = HEDDLE_PROGRESS_ADAPTIVE,
                          .executors = 1,
                          .executor_cores = nullptr,
                          .settings = nullptr});
}
heddle_world* heddle_world_open(const heddle_world_options* options) {
  return or_failed(static_cast<heddle_world*>(nullptr),
                   [&] { return new heddle_world(options_of(options)); });
}
heddle_world* heddle_world_open_beside(heddle_world* first, const heddle_world_options* options) {
  return or_failed(static_cast<heddle_world*>(nullptr),
                   [&] { return new heddle_world(first->world, options_of(options)); });
}
void heddle_world_close(heddle_world* world) {
  delete world;
}
heddle_rank heddle_world_rank(const heddle_world* world) {
  return world->world.rank();
}
int heddle_world_size(const heddle_world* world) {
  return world->world.size();
}
int heddle_world_barrier(heddle_world* world) {
  return or_failed(-1, [&] {
    world->world.barrier();
    return 0;
  });
}
size_t heddle_world_idle_hook(heddle_world* world) {
  return world->world.idle_hook();
}
void heddle_world_abort(heddle_world* world, int status, const char* why) {
  world->world.abort(status, why != nullptr ? why : "");
}
char* heddle_world_describe(const heddle_world* world) {
  return heddle::c::text_of([&] { return world->world.describe(); });
}
char* heddle_world_route(const heddle_world* world, heddle_rank peer) {
  return heddle::c::text_of([&] { return world->world.route(peer); });
}
char* heddle_world_host(const heddle_world* world, heddle_rank peer) {
  return heddle::c::text_of([&] { return world->world.host(peer); });
}
int heddle_world_host_number(const heddle_world* world, heddle_rank peer) {
  return world->world.host_number(peer);
}
int heddle_world_set_handler(heddle_world* world, uint16_t id, heddle_call_handler function,
                             void* context) {
  return or_failed(-1, [&] {
    world->world.set_handler(id, std::bit_cast<heddle::call_handler>(function), context);
    return 0;
  });
}
int heddle_world_add_handler(heddle_world* world, const char* name, heddle_call_handler function,
                             void* context) {
  return or_failed(-1, [&]() -> int {
    return world->world.add_handler(name, std::bit_cast<heddle::call_handler>(function), context);
  });
}
int heddle_world_set_header_handler(heddle_world* world, uint16_t id,
                                    heddle_header_handler function, void* context) {
  return or_failed(-1, [&] {
    world->world.set_header_handler(id, std::bit_cast<heddle::header_handler>(function), context);
    return 0;
  });
}
int heddle_world_add_header_handler(heddle_world* world, const char* name,
                                    heddle_header_handler function, void* context) {
  return or_failed(-1, [&]() -> int {
    return world->world.add_header_handler(name, std::bit_cast<heddle::header_handler>(function),
                                           context);
  });
}
int heddle_world_handler(heddle_world* world, const char* name) {
  return or_failed(-1, [&]() -> int { return world->world.handler(name); });
}
void heddle_world_on_unknown_call(heddle_world* world, heddle_unknown_handler function,
                                  void* context) {
  remembering([&] {
    world->world.on_unknown_call(std::bit_cast<heddle::unknown_handler>(function), context);
  });
}
void heddle_world_on_peer_lost(heddle_world* world, heddle_loss_handler function, void* context) {
  remembering([&] {
    if (function == nullptr) return world->world.on_peer_lost(nullptr);
    const auto made = std::make_shared<loss_listener>(function, context);
    {
      const std::lock_guard changing(world->mutex);
      world->listeners.push_back(made);
    }
    world->world.on_peer_lost(&loss_listener::hear, made.get());
  });
}
void* heddle_message_keep(const heddle_message* message) {
  return reinterpret_cast<const heddle::call_message*>(message)->keep().release();
}

// --- memory ------------------------------------------------------------------------------------

heddle_region* heddle_expose(heddle_world* world, void* memory, size_t bytes, unsigned rights) {
  return or_failed(static_cast<heddle_region*>(nullptr), [&] {
    return new heddle_region{
        world->world.expose(heddle::c::bytes_of(memory, bytes), rights_of(rights))};
  });
}
heddle_region* heddle_allocate(heddle_world* world, size_t bytes, unsigned rights) {
  return or_failed(static_cast<heddle_region*>(nullptr), [&] {
    return new heddle_region{world->world.allocate(bytes, rights_of(rights))};
  });
}
void heddle_region_close(heddle_region* region) {
  delete region;
}
void heddle_region_withdraw(heddle_region* region) {
  region->region.withdraw();
}
void* heddle_region_memory(const heddle_region* region) {
  return region->region.memory().data();
}
size_t heddle_region_bytes(const heddle_region* region) {
  return region->region.memory().size();
}
heddle_key heddle_region_key(const heddle_region* region) {
  return std::bit_cast<heddle_key>(region->region.key());
}

heddle_remote* heddle_import(heddle_world* world, const heddle_key* key) {
  return or_failed(static_cast<heddle_remote*>(nullptr), [&] {
    return new heddle_remote{world->world.import(std::bit_cast<heddle::key>(*key))};
  });
}
void heddle_remote_close(heddle_remote* remote) {
  delete remote;
}
heddle_address heddle_remote_at(const heddle_remote* remote, uint64_t offset) {
  return of(remote->region.at(offset));
}
uint64_t heddle_remote_bytes(const heddle_remote* remote) {
  return remote->region.bytes();
}
heddle_rank heddle_remote_owner(const heddle_remote* remote) {
  return remote->region.owner();
}
unsigned heddle_remote_rights(const heddle_remote* remote) {
  return static_cast<unsigned>(remote->region.allowed());
}
bool heddle_remote_mapped(const heddle_remote* remote) {
  return remote->region.mapped();
}
void* heddle_remote_mapped_memory(const heddle_remote* remote) {
  return remote->region.mapped_memory().data();
}

heddle_symmetric* heddle_symmetric_open(heddle_world* world, size_t bytes, unsigned rights) {
  return or_failed(static_cast<heddle_symmetric*>(nullptr), [&] {
    return new heddle_symmetric{world->world.symmetric<std::byte>(bytes, rights_of(rights))};
  });
}
heddle_symmetric* heddle_expose_symmetric(heddle_world* world, void* memory, size_t bytes,
                                          unsigned rights) {
  return or_failed(static_cast<heddle_symmetric*>(nullptr), [&] {
    return new heddle_symmetric{
        world->world.expose_symmetric(heddle::c::bytes_of(memory, bytes), rights_of(rights))};
  });
}
void heddle_symmetric_close(heddle_symmetric* array) {
  delete array;
}
void* heddle_symmetric_local(const heddle_symmetric* array) {
  return array->array.local().data();
}
size_t heddle_symmetric_bytes(const heddle_symmetric* array, heddle_rank peer) {
  return array->array.size(peer);
}
heddle_address heddle_symmetric_at(const heddle_symmetric* array, heddle_rank peer,
                                   uint64_t offset) {
  // Where a peer's part cannot be had, operations say so.
  return or_failed(heddle_address{nullptr, offset},
                   [&] { return of(array->array.at(peer, offset).address); });
}
void* heddle_symmetric_mapped_memory(const heddle_symmetric* array, heddle_rank peer) {
  return or_failed(static_cast<void*>(nullptr),
                   [&]() -> void* { return array->array.mapped_memory(peer).data(); });
}
