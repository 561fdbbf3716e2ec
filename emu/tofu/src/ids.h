// SPDX-License-Identifier: BSD-3-Clause
// ids.h - what is packed into the 64-bit names of uTofu: VCQ ids, gate ids, STADDs, path ids.
//
// Programs must treat all of them as opaque, so only two layouts follow the hardware: the STADD
// (40 bits of offset, 18 of tag, 6 of CQ) and the widths of the coordinates.
#pragma once
#include <array>
#include <cstdint>

namespace tofu {

using coordinates = std::array<std::uint8_t, 6>;  // x y z a b c

inline constexpr unsigned tnis_per_node = 6;
inline constexpr unsigned cqs_per_tni = 12;
inline constexpr unsigned gates_per_tni = 48;
inline constexpr unsigned ports_per_node = 10;
inline constexpr unsigned cmp_ids = 8;
inline constexpr coordinates most_coordinates{32, 32, 32, 2, 3, 2};

// --- places: VCQ ids and gate ids ---------------------------------------------------------------
// x 5, y 5, z 5, a 1, b 2, c 1, tni 3 | VCQ: cq 4, cmp 3 | gate: number 6 | path 5 | kind 2

struct place {
  coordinates at{};
  unsigned tni = 0;
  unsigned number = 0;  ///< of the CQ or of the gate
  unsigned cmp = 0;     ///< VCQs only
};

inline constexpr unsigned tni_shift = 19, number_shift = 22, cmp_shift = 26;
inline constexpr unsigned path_shift = 32, kind_shift = 40;
inline constexpr std::uint64_t vcq_kind = std::uint64_t{1} << kind_shift;
inline constexpr std::uint64_t gate_kind = std::uint64_t{2} << kind_shift;
inline constexpr std::uint64_t path_mask = std::uint64_t{0x1f} << path_shift;
inline constexpr std::uint64_t place_mask = (std::uint64_t{1} << 29) - 1;

constexpr std::uint64_t pack_coordinates(const coordinates& at) noexcept {
  return std::uint64_t{at[0]} | std::uint64_t{at[1]} << 5 | std::uint64_t{at[2]} << 10 |
         std::uint64_t{at[3]} << 15 | std::uint64_t{at[4]} << 16 | std::uint64_t{at[5]} << 18;
}
constexpr coordinates unpack_coordinates(std::uint64_t id) noexcept {
  const auto field = [id](unsigned shift, unsigned mask) {
    return static_cast<std::uint8_t>(id >> shift & mask);
  };
  return {field(0, 31), field(5, 31), field(10, 31), field(15, 1), field(16, 3), field(18, 1)};
}
constexpr std::uint64_t vcq_id_of(const place& p) noexcept {
  return vcq_kind | pack_coordinates(p.at) | std::uint64_t{p.tni} << tni_shift |
         std::uint64_t{p.number} << number_shift | std::uint64_t{p.cmp} << cmp_shift;
}
constexpr std::uint64_t gate_id_of(const place& p) noexcept {
  return gate_kind | pack_coordinates(p.at) | std::uint64_t{p.tni} << tni_shift |
         std::uint64_t{p.number} << number_shift;
}
constexpr place place_of_vcq(std::uint64_t id) noexcept {
  return {unpack_coordinates(id), static_cast<unsigned>(id >> tni_shift & 7),
          static_cast<unsigned>(id >> number_shift & 15),
          static_cast<unsigned>(id >> cmp_shift & 7)};
}
constexpr place place_of_gate(std::uint64_t id) noexcept {
  return {unpack_coordinates(id), static_cast<unsigned>(id >> tni_shift & 7),
          static_cast<unsigned>(id >> number_shift & 63), 0};
}
constexpr std::uint64_t without_path(std::uint64_t id) noexcept {
  return id & ~path_mask;
}
/// Whether `id` could be a VCQ's at all; the machine decides whether there is one.
constexpr bool looks_like_vcq(std::uint64_t id) noexcept {
  return (id & ~(place_mask | path_mask)) == vcq_kind && (id >> tni_shift & 7) < tnis_per_node &&
         (id >> number_shift & 15) < cqs_per_tni;
}
constexpr bool looks_like_gate(std::uint64_t id) noexcept {
  return (id & ~place_mask) == gate_kind && (id >> tni_shift & 7) < tnis_per_node &&
         (id >> number_shift & 63) < gates_per_tni;
}

// --- paths: an (a, b, c) with a mark, so that 0 is "the default path" ---------------------------

inline constexpr unsigned path_mark = 16;
constexpr unsigned path_id_of(const std::uint8_t* abc) noexcept {
  return path_mark | abc[0] | static_cast<unsigned>(abc[1]) << 1 |
         static_cast<unsigned>(abc[2]) << 3;
}
constexpr bool is_path_id(unsigned id) noexcept {
  return id == 0 || (id >= path_mark && id < 2 * path_mark && (id >> 1 & 3) < 3);
}
constexpr unsigned path_in(std::uint64_t vcq_id) noexcept {
  return static_cast<unsigned>(vcq_id >> path_shift & 0x1f);
}

// --- STADDs: byte-addable names of registered memory --------------------------------------------

inline constexpr unsigned offset_bits = 40, tag_bits = 18;
inline constexpr std::uint64_t offset_mask = (std::uint64_t{1} << offset_bits) - 1;
inline constexpr unsigned reserved_tags = 256;                     // per cmp_id
inline constexpr unsigned first_reserved_tag = 8 * reserved_tags;  // of cmp_id 0
inline constexpr unsigned first_automatic_tag = 4096;              // even: writable, odd: not

constexpr std::uint64_t stadd_of(unsigned cq, unsigned tag, std::uint64_t offset) noexcept {
  return offset | std::uint64_t{tag} << offset_bits | std::uint64_t{cq} << (offset_bits + tag_bits);
}
constexpr std::uint64_t offset_of(std::uint64_t stadd) noexcept {
  return stadd & offset_mask;
}
constexpr unsigned tag_of(std::uint64_t stadd) noexcept {
  return static_cast<unsigned>(stadd >> offset_bits & ((1u << tag_bits) - 1));
}
constexpr unsigned cq_of(std::uint64_t stadd) noexcept {
  return static_cast<unsigned>(stadd >> (offset_bits + tag_bits));
}
constexpr unsigned reserved_tag(unsigned cmp, unsigned stag) noexcept {
  return first_reserved_tag + cmp * reserved_tags + stag;
}

}  // namespace tofu
