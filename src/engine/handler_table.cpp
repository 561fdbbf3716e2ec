// SPDX-License-Identifier: BSD-3-Clause
#include "engine/handler_table.h"

#include <heddle/matched_message.h>

#include <cstring>

#include "base/error.h"
#include "protocols/matched_messages.h"

namespace heddle::engine {

const protocols::handler_entry* handler_table::keep(call_handler function, void* context) {
  entries_.push_back(
      std::make_unique<protocols::handler_entry>(protocols::handler_entry{function, context}));
  return entries_.back().get();
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
    header_calls_.push_back(std::make_unique<header_call>(header_call{function, context}));
    made = keep(&handler_table::run_at_header, header_calls_.back().get());
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
  if (function != nullptr)
    unknown_calls_.push_back(std::make_unique<std::array<unknown_call, max_handlers>>());
  for (std::size_t i = 0; i < max_handlers; ++i) {
    const auto id = static_cast<handler_id>(i);
    unknown_[id] = nullptr;
    if (function != nullptr) {
      unknown_call& call = (*unknown_calls_.back())[id];
      call = {function, context, id};
      unknown_[id] = keep(&handler_table::run_unknown, &call);
    }
    settle(id);
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
