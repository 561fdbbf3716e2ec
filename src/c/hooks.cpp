// SPDX-License-Identifier: BSD-3-Clause
// hooks.cpp - c.h: tools that see operations begin and end.
#include <heddle/trace.h>

#include <bit>
#include <cstddef>

#include "c/convert.h"

namespace {

using heddle::operation_hooks;
using heddle::operation_info;
static_assert(sizeof(operation_info) == sizeof(heddle_operation) &&
              offsetof(operation_info, self) == offsetof(heddle_operation, self) &&
              offsetof(operation_info, lane) == offsetof(heddle_operation, lane) &&
              offsetof(operation_info, peer) == offsetof(heddle_operation, peer) &&
              offsetof(operation_info, tag) == offsetof(heddle_operation, tag) &&
              offsetof(operation_info, bytes) == offsetof(heddle_operation, bytes));
static_assert(static_cast<int>(heddle::operation_kind::when_ready) == HEDDLE_OPERATION_WHEN_READY);
static_assert(sizeof(heddle::status) == sizeof(uint8_t));

}  // namespace

const char* heddle_operation_name(heddle_operation_kind kind) {
  return kind >= HEDDLE_OPERATION_PUT && kind <= HEDDLE_OPERATION_WHEN_READY
             ? name_of(static_cast<heddle::operation_kind>(kind)).data()  // a literal
             : "unknown";
}
int heddle_set_operation_hooks(heddle_begin_hook begin, heddle_end_hook end, void* context) {
  return heddle::c::or_failed(-1, [&] {
    heddle::set_operation_hooks({std::bit_cast<decltype(operation_hooks::begin)>(begin),
                                 std::bit_cast<decltype(operation_hooks::end)>(end), context});
    return 0;
  });
}
