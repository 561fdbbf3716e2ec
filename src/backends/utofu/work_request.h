// SPDX-License-Identifier: BSD-3-Clause
// work_request.h - one work request for a VCQ, in one form whichever way it is posted.
#pragma once
#include <heddle/types.h>
#include <utofu.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/utofu/pending.h"

namespace heddle::transport::utofu {

inline constexpr std::size_t max_piggyback = 32;

struct work_request {
  enum class form : std::uint8_t { piggyback, put, get, atomic };
  form what = form::put;
  atomic_op atomic = atomic_op::add;
  std::uint8_t width = 8;  ///< atomic
  std::uint8_t edata = 0;
  std::uint32_t flags = 0;
  utofu_vcq_id_t to = 0;
  utofu_stadd_t here = 0;  ///< put, get
  utofu_stadd_t there = 0;
  std::size_t bytes = 0;
  const void* data = nullptr;              ///< piggyback
  std::uint64_t operand = 0, compare = 0;  ///< atomic
  std::uint64_t cookie = 0;                ///< comes back from utofu_poll_tcq
};

/// Of an op_kind, or a work_request::form.
template <class Kind>
[[nodiscard]] constexpr queue_name queue_of(Kind k) noexcept {
  if (k == Kind::get) return queue_name::gets;
  return k == Kind::atomic ? queue_name::atomics : queue_name::puts;
}

/// What the interface takes as void*: it only reads the data, and gives the cookie back as it is.
[[nodiscard]] inline void* data_of(const work_request& c) noexcept {
  return const_cast<void*>(c.data);
}
[[nodiscard]] inline void* cookie_of(const work_request& c) noexcept {
  return reinterpret_cast<void*>(c.cookie);  // NOLINT: a number
}

/// As uTofu names it; not for compare_swap, which has calls of its own.
[[nodiscard]] constexpr utofu_armw_op armw_of(atomic_op op) noexcept {
  constexpr std::array names{UTOFU_ARMW_OP_ADD, UTOFU_ARMW_OP_AND, UTOFU_ARMW_OP_OR,
                             UTOFU_ARMW_OP_XOR, UTOFU_ARMW_OP_SWAP};
  static_assert(static_cast<std::size_t>(atomic_op::swap) == names.size() - 1);
  return names[static_cast<std::size_t>(op)];
}
[[nodiscard]] constexpr std::uint32_t low(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(value);
}

[[nodiscard]] inline int issue_atomic(utofu_vcq_hdl_t vcq, const work_request& c) noexcept {
  if (c.atomic == atomic_op::compare_swap)
    return c.width == 8 ? utofu_cswap8(vcq, c.to, c.compare, c.operand, c.there, c.edata, c.flags,
                                       cookie_of(c))
                        : utofu_cswap4(vcq, c.to, low(c.compare), low(c.operand), c.there, c.edata,
                                       c.flags, cookie_of(c));
  const utofu_armw_op op = armw_of(c.atomic);
  return c.width == 8
             ? utofu_armw8(vcq, c.to, op, c.operand, c.there, c.edata, c.flags, cookie_of(c))
             : utofu_armw4(vcq, c.to, op, low(c.operand), c.there, c.edata, c.flags, cookie_of(c));
}

/// Posts it. A uTofu return code.
[[nodiscard, gnu::always_inline]] inline int issue(utofu_vcq_hdl_t vcq,
                                                   const work_request& c) noexcept {
  switch (c.what) {
    case work_request::form::piggyback:
      return utofu_put_piggyback(vcq, c.to, data_of(c), c.there, c.bytes, c.edata, c.flags,
                                 cookie_of(c));
    case work_request::form::put:
      return utofu_put(vcq, c.to, c.here, c.there, c.bytes, c.edata, c.flags, cookie_of(c));
    case work_request::form::get:
      return utofu_get(vcq, c.to, c.here, c.there, c.bytes, c.edata, c.flags, cookie_of(c));
    case work_request::form::atomic:
      return issue_atomic(vcq, c);
  }
  return UTOFU_ERR_INVALID_OP;
}

/// Writes it to `at`, for utofu_post_toq; `size` gets its bytes. A uTofu return code.
[[nodiscard]] int prepare(utofu_vcq_hdl_t vcq, const work_request& c, void* at,
                          std::size_t& size) noexcept;

}  // namespace heddle::transport::utofu
