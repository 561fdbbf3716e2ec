// SPDX-License-Identifier: BSD-3-Clause
// trace.h - hooks by which a tool sees each operation of this process begin and end. For a record
// of them in a file set HEDDLE_TRACE (docs/guide/observe.md); both work at once.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle {

enum class operation_kind : std::uint8_t {
  put,
  put_notify,
  put_signal,
  get,
  atomic,
  send,
  recv,
  call,
  flush,
  when_ready
};
/// Like "put_notify".
[[nodiscard]] std::string_view name_of(operation_kind k) noexcept;

struct operation_info {
  operation_kind kind = operation_kind::put;
  rank self = -1;
  int lane = -1;
  rank peer = any_source;  ///< as the program named it; at a receive's end the source
  heddle::tag tag = 0;     ///< send, recv; a collective's has reserved_tag_bit
  std::size_t bytes = 0;   ///< asked for; at the end moved
};

/// What a tool wants to hear. Both run on the thread that posts or ends the operation, perhaps
/// inside a completion; they must not call Heddle, block, or throw.
struct operation_hooks {
  /// Before an operation is posted. What it returns is given to its end.
  std::uint64_t (*begin)(void* context, const operation_info& of) noexcept = nullptr;
  /// Once for each begin: when the operation has ended, or was answered without having been posted
  /// (`done`, refused, or busy, which means that nothing happened). Before its completion runs.
  void (*end)(void* context, std::uint64_t mark, const operation_info& of,
              status code) noexcept = nullptr;
  void* context = nullptr;
};

/// From now on, for all worlds of this process; default-made hooks: none. An operation that has
/// begun with other hooks ends with those, so these and what they use must stay until it has. While
/// there are none, operations do not know that there could be. Puts, gets and atomics on mapped
/// memory by the functions that do not block are plain stores and loads, and are not told of. Any
/// thread; throws bad_alloc.
void set_operation_hooks(const operation_hooks& hooks);

}  // namespace heddle
