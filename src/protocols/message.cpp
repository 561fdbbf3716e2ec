// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/message.h"

#include <cstring>

namespace heddle::protocols {
namespace {

enum class extension : std::uint8_t { none, rendezvous, access, atomic, reply, delivery };

constexpr extension extension_of(message_kind k) noexcept {
  switch (k) {
    case message_kind::tag_rts:
    case message_kind::call_rts:
      return extension::rendezvous;
    case message_kind::rma_put:
    case message_kind::rma_get:
      return extension::access;
    case message_kind::rma_atomic:
      return extension::atomic;
    case message_kind::rma_data:
    case message_kind::rma_done:
    case message_kind::rma_value:
      return extension::reply;
    case message_kind::cts:
      return extension::delivery;
    default:
      return extension::none;
  }
}

/// Writes fields one after the other.
class writer {
 public:
  explicit writer(std::byte* at) noexcept : at_(at) {}
  template <class... T>
  void put(const T&... values) noexcept {
    ((std::memcpy(at_, &values, sizeof values), at_ += sizeof values), ...);
  }

 private:
  std::byte* at_;
};

/// Reads fields one after the other; whoever uses it has checked that they are there.
class reader {
 public:
  explicit reader(const std::byte* at) noexcept : at_(at) {}
  template <class... T>
  void get(T&... values) noexcept {
    ((std::memcpy(&values, at_, sizeof values), at_ += sizeof values), ...);
  }

 private:
  const std::byte* at_;
};

constexpr std::size_t bytes_of(extension e) noexcept {
  constexpr std::array<std::size_t, 6> sizes{0, 48, 24, 40, 16, 16};
  return sizes[static_cast<std::size_t>(e)];
}

/// Applies `f` to the extension's fields in wire order.
template <class M, class F>
void with_extension(extension e, M& m, F&& f) noexcept {
  switch (e) {
    case extension::none:
      break;
    case extension::rendezvous:
      f(m.slot, m.generation, m.offset, m.bytes, m.id, m.place.address, m.place.key, m.place.by);
      break;
    case extension::access:
      f(m.slot, m.generation, m.offset, m.bytes);
      break;
    case extension::atomic:
      f(m.slot, m.generation, m.offset, m.bytes, m.operand, m.compare);
      break;
    case extension::reply:
      f(m.position, m.value);
      break;
    case extension::delivery:
      f(m.id, m.bytes);
      break;
  }
}

}  // namespace

prefix::prefix(const message& m) noexcept {
  const extension e = extension_of(m.kind);
  write(head_of(m.kind, m.flag, m.handler, m.header.size(), m.width, m.word));
  if (e != extension::none) {
    writer w(buffer_.data() + size_);
    with_extension(e, m, [&](const auto&... fields) { w.put(fields...); });
    size_ += bytes_of(e);
  }
  append(m.header);
}

bool parse_message(std::span<const std::byte> bytes, message& m) noexcept {
  if (bytes.size() < base_bytes) return false;
  std::uint8_t header_bytes = 0;
  std::uint16_t zero = 0;
  reader(bytes.data()).get(m.kind, m.flag, m.handler, header_bytes, m.width, zero, m.word);
  if (m.kind < message_kind::tag_eager || m.kind > last_message_kind) return false;
  if (zero != 0 || m.handler >= max_handlers || header_bytes > max_call_header) return false;
  std::size_t at = base_bytes;
  if (const extension e = extension_of(m.kind); e != extension::none) {
    at += bytes_of(e);
    if (bytes.size() < at) return false;
    reader r(bytes.data() + base_bytes);
    with_extension(e, m, [&](auto&... fields) { r.get(fields...); });
  }
  if (bytes.size() < at + header_bytes) return false;
  m.header = bytes.subspan(at, header_bytes);
  m.payload = bytes.subspan(at + header_bytes);
  return true;
}

}  // namespace heddle::protocols
