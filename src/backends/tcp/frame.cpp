// SPDX-License-Identifier: BSD-3-Clause
// frame.cpp - decoding and checking frame headers.
#include "backends/tcp/frame.h"

namespace heddle::transport::tcp {
namespace {

// What a peer may say about how an operation of ours ended.
bool is_outcome(std::uint8_t code) noexcept {
  switch (static_cast<status>(code)) {
    case status::done:
    case status::out_of_bounds:
    case status::misaligned:
    case status::denied:
    case status::withdrawn:
      return true;
    default:
      return false;
  }
}

bool is_put_flags(std::uint8_t flags) noexcept {
  return flags == flag_last || flags == flag_part || flags == (flag_part | flag_last);
}

void read_place(const std::byte* at, frame& f) noexcept {
  f.slot = load_le<std::uint32_t>(at + 8);
  f.generation = load_le<std::uint32_t>(at + 12);
  f.offset = load_le<std::uint64_t>(at + 16);
}

// Of a complete header whose fourth byte is zero; `a`, `b` and `d` are its second and third byte
// and second word (see write_common).
bool parse_rest(const std::byte* at, std::uint8_t a, std::uint8_t b, std::uint32_t d,
                frame& f) noexcept {
  const bool plain = a == 0 && b == 0;
  switch (f.kind) {
    case frame_kind::message:
      f.payload = d;
      return plain && d <= max_message;
    case frame_kind::notice:
      f.payload = d;
      return plain && d >= 16 && d <= max_notice;
    case frame_kind::put:
      f.flags = a;
      f.payload = d;
      read_place(at, f);
      return is_put_flags(a) && b == 0 && d <= max_fragment;
    case frame_kind::put_ack:
      f.code = static_cast<status>(a);
      f.count = d;
      return is_outcome(a) && b == 0 && d > 0;
    case frame_kind::get:
      f.id = d;
      read_place(at, f);
      f.bytes = load_le<std::uint64_t>(at + 24);
      return plain;
    case frame_kind::get_data:
      f.flags = a;
      f.payload = d;
      f.id = load_le<std::uint32_t>(at + 8);
      return (a == 0 || a == flag_whole) && b == 0 && d <= max_fragment &&
             load_le<std::uint32_t>(at + 12) == 0;
    case frame_kind::atomic:
      f.atomic = static_cast<atomic_op>(a);
      f.width = b;
      f.id = d;
      read_place(at, f);
      f.operand = load_le<std::uint64_t>(at + 24);
      f.compare = load_le<std::uint64_t>(at + 32);
      return f.atomic <= last_atomic_op && (b == 4 || b == 8);
    case frame_kind::reply:
      f.code = static_cast<status>(a);
      f.id = d;
      f.value = load_le<std::uint64_t>(at + 8);
      return is_outcome(a) && b == 0;
    case frame_kind::bye:
    case frame_kind::chosen:
      return plain && d == 0;
  }
  return false;
}

}  // namespace

verdict parse_frame(std::span<const std::byte> bytes, frame& head) noexcept {
  if (bytes.empty()) return verdict::more;
  const std::size_t needed = header_bytes(std::to_integer<std::uint8_t>(bytes[0]));
  if (needed == 0) return verdict::bad;
  if (bytes.size() < needed) return verdict::more;
  const auto first = load_le<std::uint64_t>(bytes.data());
  head.kind = static_cast<frame_kind>(first & 0xff);
  const bool good =
      (first >> 24 & 0xff) == 0 && parse_rest(bytes.data(), first >> 8 & 0xff, first >> 16 & 0xff,
                                              static_cast<std::uint32_t>(first >> 32), head);
  return good ? verdict::frame : verdict::bad;
}

}  // namespace heddle::transport::tcp
