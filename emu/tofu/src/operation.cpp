// SPDX-License-Identifier: BSD-3-Clause
// operation.cpp - see operation.h.
//
// A descriptor, as 64-bit words:
//   0  command 4, armw 4, width is 8 1, edata 8, edata fits 1, slots - 1 1, mark 5, flags 16,
//      length 24
//   1  VCQ 29, its path 5, SPS 4, mtu / 8 8, gap 8
//   2  local STADD, or the first 8 bytes of data or operand
//   3  remote STADD
//   4..7, if it has two slots: all data; or old, new; or stride, blocks
#include "operation.h"

#include <utofu.h>

#include <cstring>

namespace tofu {

namespace {

constexpr std::uint64_t mark = 0x15;
constexpr std::uint64_t flag_mask = 0xffff;

/// Puts fields together from the low end up.
class packer {
 public:
  packer& add(std::uint64_t value, unsigned bits) noexcept {
    word_ |= (value & ((std::uint64_t{1} << bits) - 1)) << used_;
    used_ += bits;
    return *this;
  }
  [[nodiscard]] std::uint64_t word() const noexcept { return word_; }

 private:
  std::uint64_t word_ = 0;
  unsigned used_ = 0;
};

class unpacker {
 public:
  explicit unpacker(std::uint64_t word) noexcept : word_(word) {}
  std::uint64_t take(unsigned bits) noexcept {
    const std::uint64_t value = word_ & ((std::uint64_t{1} << bits) - 1);
    word_ >>= bits;
    return value;
  }

 private:
  std::uint64_t word_;
};

bool carries_data(const operation& op) noexcept {
  return op.what == command::piggyback || op.what == command::armw || op.what == command::cswap;
}
bool is_strided(const operation& op) noexcept {
  return op.blocks != 1;
}

void decode_first(std::uint64_t word, operation& op) noexcept {
  unpacker fields(word);
  op.what = static_cast<command>(fields.take(4));
  op.armw = static_cast<std::uint8_t>(fields.take(4));
  op.width = fields.take(1) != 0 ? 8 : 4;
  op.edata = static_cast<std::uint8_t>(fields.take(8));
  op.edata_fits = fields.take(1) != 0;
  op.slots = static_cast<std::uint8_t>(fields.take(1) + 1);
  fields.take(5);
  op.flags = fields.take(16);
  op.length = static_cast<std::uint32_t>(fields.take(24));
  op.length_fits = op.length != 0;
}

void decode_second(std::uint64_t word, operation& op) noexcept {
  unpacker fields(word);
  op.vcq_id = fields.take(29) | vcq_kind;
  op.path = static_cast<std::uint8_t>(fields.take(5));
  op.flags |= fields.take(4) << 24;
  op.mtu = static_cast<std::uint16_t>(fields.take(8) * 8);
  op.gap = static_cast<std::uint16_t>(fields.take(8));
}

}  // namespace

unsigned slots_of(const operation& op) noexcept {
  switch (op.what) {
    case command::piggyback:
      return op.length > 8 ? 2 : 1;
    case command::cswap:
      return op.width == 8 ? 2 : 1;
    default:
      return is_strided(op) ? 2 : 1;
  }
}

descriptor encode(const operation& op) noexcept {
  descriptor d{};
  d[0] = packer()
             .add(static_cast<std::uint64_t>(op.what), 4)
             .add(op.armw, 4)
             .add(op.width == 8, 1)
             .add(op.edata, 8)
             .add(op.edata_fits, 1)
             .add(op.slots - 1u, 1)
             .add(mark, 5)
             .add(op.flags & flag_mask, 16)
             .add(op.length_fits ? op.length : 0, 24)
             .word();
  d[1] = packer()
             .add(op.vcq_id & place_mask, 29)
             .add(op.path, 5)
             .add(op.flags >> 24, 4)
             .add(op.mtu / 8u, 8)
             .add(op.gap, 8)
             .word();
  d[2] = carries_data(op) ? op.words[0] : op.lcl_stadd;
  d[3] = op.rmt_stadd;
  if (op.what == command::cswap && op.width == 4) d[2] = op.words[0] | op.words[1] << 32;
  if (carries_data(op)) std::memcpy(&d[4], op.words.data(), sizeof op.words);
  if (is_strided(op)) d[4] = op.stride, d[5] = op.blocks;
  return d;
}

bool decode(std::span<const std::byte>& bytes, operation& op) noexcept {
  descriptor d{};
  if (bytes.size() < slot_bytes) return false;
  std::memcpy(d.data(), bytes.data(), slot_bytes);
  if ((d[0] >> 19 & 0x1f) != mark) return false;
  op = {};
  decode_first(d[0], op);
  decode_second(d[1], op);
  const std::size_t size = op.slots * slot_bytes;
  if (op.what > command::cswap || bytes.size() < size) return false;
  std::memcpy(&d[4], bytes.data() + slot_bytes, size - slot_bytes);
  bytes = bytes.subspan(size);
  op.rmt_stadd = d[3];
  if (!carries_data(op)) {
    op.lcl_stadd = d[2];
    if (op.slots == 2) op.stride = d[4], op.blocks = d[5];
    return op.blocks != 0;
  }
  op.words[0] = d[2];
  if (op.slots == 2) std::memcpy(op.words.data(), &d[4], sizeof op.words);
  if (op.what == command::cswap && op.width == 4) {
    op.words = {d[2] & 0xffff'ffff, d[2] >> 32, 0, 0};
  }
  return true;
}

}  // namespace tofu
