// SPDX-License-Identifier: BSD-3-Clause
// api_build.h - from the arguments of utofu.h's functions to commands, checking them on the way.
//
// Every builder returns a utofu_return_code; what is wrong only in the eyes of the hardware (edata,
// STADDs) passes and comes out of a queue later.
#pragma once
#include <utofu.h>

#include <cstdint>
#include <cstring>

#include "operation.h"

namespace tofu {

inline constexpr unsigned long onesided_flags =
    UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_PACKET_RESPONSE |
    UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE | UTOFU_ONESIDED_FLAG_PADDING |
    UTOFU_ONESIDED_FLAG_CACHE_INJECTION | UTOFU_ONESIDED_FLAG_DELAY_START |
    UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE |
    UTOFU_ONESIDED_FLAG_SPS(15) | UTOFU_ONESIDED_FLAG_PATH(31);

inline constexpr unsigned path_flag_shift = 28;

/// What all commands to a VCQ have.
struct addressed {
  utofu_vcq_id_t vcq_id;
  utofu_stadd_t rmt_stadd;
  uint64_t edata;
  unsigned long flags;
};

/// A put or a get.
struct transfer {
  command what;
  addressed to;
  utofu_stadd_t lcl_stadd;
  size_t length;
};

/// Several blocks of a put or get, the same distance apart on both sides.
struct strided {
  size_t stride = 0;
  size_t blocks = 1;
};

/// How the packets of a put or get follow each other. Only checked, and used by the timing model.
struct paced {
  size_t mtu = 0;
  size_t gap = 0;
};

inline int build_flags(unsigned long flags, operation& op) noexcept {
  const unsigned path = flags >> path_flag_shift & 31;
  if ((flags & ~onesided_flags) != 0) return UTOFU_ERR_INVALID_FLAGS;
  if (!is_path_id(path)) return UTOFU_ERR_INVALID_PATH_ID;
  op.flags = flags;
  op.path = static_cast<std::uint8_t>(path);
  return UTOFU_SUCCESS;
}

inline int build_address(const addressed& to, operation& op) noexcept {
  if (!looks_like_vcq(to.vcq_id)) return UTOFU_ERR_INVALID_VCQ_ID;
  if (const int rc = build_flags(to.flags, op); rc != UTOFU_SUCCESS) return rc;
  if (op.path == 0) op.path = static_cast<std::uint8_t>(path_in(to.vcq_id));
  op.vcq_id = without_path(to.vcq_id);
  op.rmt_stadd = to.rmt_stadd;
  op.edata = static_cast<std::uint8_t>(to.edata);
  op.edata_fits = to.edata <= 255;
  return UTOFU_SUCCESS;
}

inline void build_length(size_t length, size_t most, operation& op) noexcept {
  op.length_fits = length >= 1 && length <= most;
  op.length = op.length_fits ? static_cast<std::uint32_t>(length) : 0;
}

inline int build_transfer(const transfer& t, operation& op) noexcept {
  op.what = t.what;
  op.lcl_stadd = t.lcl_stadd;
  build_length(t.length, max_length, op);
  return build_address(t.to, op);
}

/// A variant of put and get.
inline int build_blocks(const transfer& t, const strided& s, const paced& p,
                        operation& op) noexcept {
  if (s.blocks == 0 || s.blocks > max_length) return UTOFU_ERR_INVALID_NUMBER;
  if (s.stride > max_length || s.blocks * s.stride > offset_mask) return UTOFU_ERR_INVALID_SIZE;
  if (p.mtu > max_mtu || p.mtu % 8 != 0 || p.gap > max_gap) return UTOFU_ERR_INVALID_SIZE;
  op.stride = s.stride;
  op.blocks = s.blocks;
  op.mtu = static_cast<std::uint16_t>(p.mtu);
  op.gap = static_cast<std::uint16_t>(p.gap);
  op.slots = static_cast<std::uint8_t>(slots_of(op));
  return build_transfer(t, op);
}

/// The data is copied here, so it is the program's again on return.
inline int build_piggyback(const addressed& to, const void* data, size_t length, size_t most,
                           operation& op) noexcept {
  if (data == nullptr) return UTOFU_ERR_INVALID_POINTER;
  op.what = command::piggyback;
  build_length(length, most, op);
  std::memcpy(op.words.data(), data, op.length);
  op.slots = static_cast<std::uint8_t>(slots_of(op));
  return build_address(to, op);
}

inline int build_armw(const addressed& to, utofu_armw_op armw, unsigned width, uint64_t value,
                      operation& op) noexcept {
  if (armw < UTOFU_ARMW_OP_SWAP || armw > UTOFU_ARMW_OP_OR) return UTOFU_ERR_INVALID_OP;
  if (to.rmt_stadd % width != 0) return UTOFU_ERR_INVALID_STADD;
  op.what = command::armw;
  op.armw = static_cast<std::uint8_t>(armw);
  op.width = static_cast<std::uint8_t>(width);
  op.length = width;
  op.words[0] = value;
  return build_address(to, op);
}

inline int build_cswap(const addressed& to, unsigned width, uint64_t old_value, uint64_t new_value,
                       operation& op) noexcept {
  if (to.rmt_stadd % width != 0) return UTOFU_ERR_INVALID_STADD;
  op.what = command::cswap;
  op.width = static_cast<std::uint8_t>(width);
  op.length = width;
  op.words[0] = old_value;
  op.words[1] = new_value;
  op.slots = static_cast<std::uint8_t>(slots_of(op));
  return build_address(to, op);
}

}  // namespace tofu
