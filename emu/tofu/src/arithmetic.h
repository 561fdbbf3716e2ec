// SPDX-License-Identifier: BSD-3-Clause
// arithmetic.h - ARMW commands: read, compute and write a word of the target.
#pragma once
#include <cstdint>

#include "machine.h"
#include "operation.h"
#include "target.h"

namespace tofu {

/// How weak the atomicity of ARMWs is.
struct armw_rules {
  bool with_cpu = false;  ///< atomic with CPUs as well, where memory is mapped
  armw_scope scope = armw_scope::cq;
  bool window = false;  ///< at times leaves CPUs time between reading and writing
};

/// Executes an armw or cswap. Returns 0 and the word's `old` value, or an errno.
///
/// Atomic only with other ARMWs that go through the same CQ, TNI or node of the target, whatever
/// SOFTTOFU_ARMW_SCOPE says, and not with what CPUs do: the weakest hardware. With
/// SOFTTOFU_ATOMICS=cpu also with CPUs, where the memory is mapped.
[[nodiscard]] int execute_armw(const machine& m, const armw_rules& rules, const operation& op,
                               const target& to, const remote_place& where,
                               std::uint64_t& old) noexcept;

}  // namespace tofu
