// frame.cpp - decoding and checking frame headers.
#include "backends/tcp/frame.h"

namespace heddle::transport::tcp {
namespace {

struct common {
  std::uint8_t a, b, c;
  std::uint32_t d;
};

common read_common(const std::byte* at) noexcept {
  return {load_le<std::uint8_t>(at + 1), load_le<std::uint8_t>(at + 2),
          load_le<std::uint8_t>(at + 3), load_le<std::uint32_t>(at + 4)};
}

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

void read_target(const std::byte* at, frame& f) noexcept {
  f.slot = load_le<std::uint32_t>(at + 8);
  f.generation = load_le<std::uint32_t>(at + 12);
  f.offset = load_le<std::uint64_t>(at + 16);
}

bool parse_put(const std::byte* at, const common& c, frame& f) noexcept {
  f.flags = c.a;
  f.payload = c.d;
  read_target(at, f);
  const bool known = c.a == flag_last || c.a == flag_part || c.a == (flag_part | flag_last);
  return known && c.b == 0 && c.d <= max_fragment;
}

bool parse_get(const std::byte* at, const common& c, frame& f) noexcept {
  f.id = c.d;
  read_target(at, f);
  f.bytes = load_le<std::uint64_t>(at + 24);
  return c.a == 0 && c.b == 0;
}

bool parse_get_data(const std::byte* at, const common& c, frame& f) noexcept {
  f.flags = c.a;
  f.payload = c.d;
  f.id = load_le<std::uint32_t>(at + 8);
  const auto padding = load_le<std::uint32_t>(at + 12);
  return (c.a == 0 || c.a == flag_whole) && c.b == 0 && padding == 0 && c.d <= max_fragment;
}

bool parse_atomic(const std::byte* at, const common& c, frame& f) noexcept {
  f.atomic = static_cast<atomic_op>(c.a);
  f.width = c.b;
  f.id = c.d;
  read_target(at, f);
  f.operand = load_le<std::uint64_t>(at + 24);
  f.compare = load_le<std::uint64_t>(at + 32);
  return f.atomic <= atomic_op::compare_swap && (c.b == 4 || c.b == 8);
}

bool parse_reply(const std::byte* at, const common& c, frame& f) noexcept {
  f.code = static_cast<status>(c.a);
  f.id = c.d;
  f.value = load_le<std::uint64_t>(at + 8);
  return is_outcome(c.a) && c.b == 0;
}

bool parse_put_ack(const common& c, frame& f) noexcept {
  f.code = static_cast<status>(c.a);
  f.count = c.d;
  return is_outcome(c.a) && c.b == 0 && c.d > 0;
}

bool parse_body(const std::byte* at, frame& f) noexcept {
  const common c = read_common(at);
  if (c.c != 0) return false;
  switch (f.kind) {
    case frame_kind::message:
      f.payload = c.d;
      return c.a == 0 && c.b == 0 && c.d <= max_message;
    case frame_kind::put:
      return parse_put(at, c, f);
    case frame_kind::put_ack:
      return parse_put_ack(c, f);
    case frame_kind::get:
      return parse_get(at, c, f);
    case frame_kind::get_data:
      return parse_get_data(at, c, f);
    case frame_kind::atomic:
      return parse_atomic(at, c, f);
    case frame_kind::reply:
      return parse_reply(at, c, f);
    case frame_kind::bye:
    case frame_kind::chosen:
      return c.a == 0 && c.b == 0 && c.d == 0;
  }
  return false;
}

}  // namespace

verdict parse_frame(std::span<const std::byte> bytes, frame& head) noexcept {
  if (bytes.empty()) return verdict::more;
  const auto kind = load_le<std::uint8_t>(bytes.data());
  const std::size_t needed = header_bytes(kind);
  if (needed == 0) return verdict::bad;
  if (bytes.size() < needed) return verdict::more;
  head.kind = static_cast<frame_kind>(kind);
  return parse_body(bytes.data(), head) ? verdict::frame : verdict::bad;
}

}  // namespace heddle::transport::tcp
