// SPDX-License-Identifier: BSD-3-Clause
#include "engine/handler_table.h"

#include <heddle/matched_message.h>

#include <cstring>

#include "base/error.h"
#include "protocols/matched_messages.h"

namespace heddle::engine {

const protocols::handler_entry* handler_table::keep(call_handler function, void* context) {
  const protocols::handler_entry made{function, context};
  return &entries_.try_emplace({function, context}, made).first->second;
}

const handler_table::unknown_calls* handler_table::keep_for_unknown(unknown_handler function,
                                                                    void* context) {
  const auto [at, is_new] = unknown_calls_.try_emplace({function, context});
  unknown_calls& all = at->second;
  for (std::size_t id = 0; is_new && id < max_handlers; ++id)
    all[id] = {function, context, static_cast<handler_id>(id), {&run_unknown, &all[id]}};
  return &all;
}

/// An id with a handler of one kind has none of the other, nor the one for unknown ids.
void handler_table::settle(handler_id id) {
  const bool unknown = set_[id] == nullptr && header_slots_[id].get() == nullptr;
  slots_[id].set(unknown ? unknown_[id] : set_[id]);
}

void handler_table::refuse_wrong(handler_id id) {
  if (id >= max_handlers) fail("set handler {}: ids go from 0 to {}", id, max_handlers - 1);
}

void handler_table::set(handler_id id, call_handler function, void* context) {
  refuse_wrong(id);
  const std::lock_guard lock(mutex_);
  set_[id] = function != nullptr ? keep(function, context) : nullptr;
  settle(id);  // first, so that no call finds neither
  header_slots_[id].set(nullptr);
  settle(id);
}

void handler_table::set_at_header(handler_id id, header_handler function, void* context) {
  refuse_wrong(id);
  const std::lock_guard lock(mutex_);
  set_[id] = nullptr;
  const protocols::handler_entry* made = nullptr;
  if (function != nullptr) {
    const header_call call{function, context};
    made = keep(&handler_table::run_at_header,
                &header_calls_.try_emplace({function, context}, call).first->second);
  }
  header_slots_[id].set(made);
  settle(id);
}

handler_id handler_table::next_named(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  if (name.empty()) fail("name a handler: the name is empty");
  if (names_.contains(name)) fail("name a handler: there is one called {} already", name);
  if (names_.size() >= max_handlers)
    fail("name handler {}: there are {} already, more are not possible", name, max_handlers);
  const auto id = static_cast<handler_id>(max_handlers - 1 - names_.size());
  if (set_[id] != nullptr || header_slots_[id].get() != nullptr)
    fail(
        "name handler {}: its id would be {}, for which set_handler() has set one; set those below",
        name, id);
  return id;
}

void handler_table::set_named(std::string_view name, handler_id id) {
  const std::lock_guard lock(mutex_);
  names_.emplace(name, id);
}

void handler_table::forget_named(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto at = names_.find(name);
  set_[at->second] = nullptr;
  header_slots_[at->second].set(nullptr);
  settle(at->second);
  names_.erase(at);
}

handler_id handler_table::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  if (const auto at = names_.find(name); at != names_.end()) return at->second;
  std::string known;
  for (const auto& [each, id] : names_) known += (known.empty() ? "" : ", ") + each;
  fail("no handler is called {}; those with names are: {}", name, known.empty() ? "none" : known);
}

void handler_table::set_for_unknown(unknown_handler function, void* context) {
  const std::lock_guard lock(mutex_);
  const unknown_calls* const made =
      function != nullptr ? keep_for_unknown(function, context) : nullptr;
  for (std::size_t id = 0; id < max_handlers; ++id) {
    unknown_[id] = made != nullptr ? &(*made)[id].entry : nullptr;
    settle(static_cast<handler_id>(id));
  }
}

void handler_table::run_at_header(void* of, lane& here, const call_message& message) noexcept {
  const auto& call = *static_cast<const header_call*>(of);
  protocols::held_payload held{};
  std::memcpy(&held, message.payload.data(), sizeof held);
  matched_message payload(*held.lane, held.message);
  call.function(call.context, here, {message.source, message.lane, message.header, payload});
}

void handler_table::run_unknown(void* of, lane& here, const call_message& message) noexcept {
  const auto& call = *static_cast<const unknown_call*>(of);
  call.function(call.context, here, call.id, message);
}

}  // namespace heddle::engine
