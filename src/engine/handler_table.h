// SPDX-License-Identifier: BSD-3-Clause
// handler_table.h - what runs for which handler id: those set by number, those that have a name,
// and one for all the others.
#pragma once
#include <heddle/types.h>
#include <heddle/world.h>

#include <array>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "protocols/delivery.h"
#include "sync/release_acquire.h"

namespace heddle::engine {

/// One per world. Any thread.
class handler_table {
 public:
  using slot = sync::release_acquire<const protocols::handler_entry*>;

  /// By id; null: none. What a lane looks at for each call.
  [[nodiscard]] std::span<const slot> all() const noexcept { return slots_; }
  /// The same, of those that are told at the header.
  [[nodiscard]] std::span<const slot> at_header() const noexcept { return header_slots_; }

  /// Null: none. In the place of the id's other handler, of either kind. Throws error: no such id.
  void set(handler_id id, call_handler function, void* context);
  void set_at_header(handler_id id, header_handler function, void* context);
  /// The id that the next name gets, on every rank that has named as many: from the highest down.
  /// Throws error: no name, it has one already, or a handler was set for that id by number.
  [[nodiscard]] handler_id next_named(std::string_view name) const;
  /// The name gets the id that next_named() has said, before or after its handler is set. One
  /// thread at a time names.
  void set_named(std::string_view name, handler_id id);
  /// Takes the last one back: the ranks do not agree on it.
  void forget_named(std::string_view name);
  /// Throws error: no handler has that name.
  [[nodiscard]] handler_id find(std::string_view name) const;
  /// What runs for ids that have none. Null: nothing.
  void set_for_unknown(unknown_handler function, void* context);

 private:
  /// One for each id, since what runs is not told its id.
  struct unknown_call {
    unknown_handler function = nullptr;
    void* context = nullptr;
    handler_id id = 0;
    protocols::handler_entry entry{};
  };
  struct header_call {
    header_handler function;
    void* context;
  };
  using unknown_calls = std::array<unknown_call, max_handlers>;
  static void run_at_header(void* of, lane& here, const call_message& message) noexcept;
  static void run_unknown(void* of, lane& here, const call_message& message) noexcept;
  [[nodiscard]] const protocols::handler_entry* keep(call_handler function, void* context);
  [[nodiscard]] const unknown_calls* keep_for_unknown(unknown_handler function, void* context);
  static void refuse_wrong(handler_id id);
  void settle(handler_id id);

  std::array<slot, max_handlers> slots_;
  std::array<slot, max_handlers> header_slots_;

  mutable std::mutex mutex_;                                         // guards what follows
  std::array<const protocols::handler_entry*, max_handlers> set_{};  // by the program
  std::array<const protocols::handler_entry*, max_handlers> unknown_{};
  std::map<std::string, handler_id, std::less<>> names_;
  // By function and context. Also those replaced since, which may be running still.
  std::map<std::pair<call_handler, void*>, protocols::handler_entry> entries_;
  std::map<std::pair<header_handler, void*>, header_call> header_calls_;
  std::map<std::pair<unknown_handler, void*>, unknown_calls> unknown_calls_;
};

}  // namespace heddle::engine
