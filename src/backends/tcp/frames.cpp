// frames.cpp - what a connection does with each kind of frame that a peer sends.
//
// Regions are pinned around each copy, and every range is checked at that moment: a peer's slot,
// generation, offset and length are only claims, and the owner may withdraw the region meanwhile.
#include <heddle/detail/direct.h>

#include <cstring>
#include <utility>

#include "backends/tcp/connection.h"

namespace heddle::transport::tcp {
namespace {

memory::region_ref region_of(const frame& f) noexcept {
  return {f.slot, f.generation};
}

template <class T>
std::uint64_t apply(const frame& f, std::byte* at) noexcept {
  return heddle::detail::apply_atomic<T>(f.atomic, *reinterpret_cast<T*>(at),
                                         static_cast<T>(f.operand), static_cast<T>(f.compare));
}

}  // namespace

// False: the peer breaks the rules.
bool connection::act(const reassembler::item& i) noexcept {
  if (!chosen_ && i.head.kind < frame_kind::bye) return false;
  switch (i.head.kind) {
    case frame_kind::message:
      return false;  // take_frames() took it, if it may come
    case frame_kind::put:
      on_put(i);
      return missing_ != 0 || finish_frame();
    case frame_kind::put_ack:
      return on_put_ack(i.head);
    case frame_kind::get:
      return on_get(i.head);
    case frame_kind::get_data:
      return on_get_data(i) && (missing_ != 0 || finish_frame());
    case frame_kind::atomic:
      return on_atomic(i.head);
    case frame_kind::reply:
      return on_reply(i.head);
    case frame_kind::bye:
      return bye_ = true;  // the end of the stream comes next, and means the same
    case frame_kind::chosen:
      return !std::exchange(chosen_, true);
  }
  return false;
}

void connection::on_put(const reassembler::item& i) noexcept {
  frame_ = i.head;
  missing_ = i.missing;
  to_ = destination::region;
  put_code_ = (frame_.flags & flag_part) != 0 ? part_code_ : status::done;
  if (put_code_ != status::done) return;
  const auto pin =
      shared_.regions.look_up(region_of(frame_), frame_.offset, frame_.payload, rights::write);
  put_code_ = pin.code();
  if (put_code_ == status::done) copy_few(pin.at(), i.payload);
  frame_.offset += i.payload.size();
}

// The payload of the put or get_data frame under way is complete.
bool connection::finish_frame() noexcept {
  if (frame_.kind == frame_kind::put) return finish_put();
  if ((frame_.flags & flag_whole) == 0) return true;
  if (requests_.find(frame_.id, op_kind::get)->missing != 0) return false;
  finish_request(frame_.id, status::done);
  return true;
}

bool connection::finish_put() noexcept {
  const bool part = (frame_.flags & flag_part) != 0;
  const bool last = (frame_.flags & flag_last) != 0;
  if (part) part_code_ = last ? status::done : put_code_;
  return !last || note_put(put_code_);
}

bool connection::note_put(status code) noexcept {
  if (code != ack_code_ && !write_ack()) return false;
  ack_code_ = code;
  ++acks_;
  return true;
}

bool connection::write_ack() noexcept {
  if (acks_ == 0) return true;
  std::byte* at = out_.extend(common_header);
  if (at == nullptr) return false;
  write_put_ack(at, ack_code_, acks_);
  acks_ = 0;
  return true;
}

bool connection::on_put_ack(const frame& f) noexcept {
  if (f.count > out_.unacknowledged.size()) return false;
  for (std::uint32_t i = 0; i < f.count; ++i, out_.unacknowledged.pop())
    shared_.end(*out_.unacknowledged.front(), f.code);
  return true;
}

bool connection::answer(std::uint32_t id, status code, std::uint64_t value) noexcept {
  std::byte* at = out_.extend(16);
  if (at == nullptr) return false;
  write_reply(at, code, id, value);
  return true;
}

bool connection::on_get(const frame& f) noexcept {
  const auto pin = shared_.regions.look_up(region_of(f), f.offset, f.bytes, rights::read);
  if (pin.code() != status::done) return answer(f.id, pin.code(), 0);
  if (f.bytes > inline_reply) return out_.add_reply(f);
  std::byte* at = out_.extend(16 + f.bytes);
  if (at == nullptr) return false;
  at += write_get_data(at, flag_whole, f.id, static_cast<std::uint32_t>(f.bytes));
  copy_few(at, {pin.at(), f.bytes});
  return true;
}

bool connection::on_get_data(const reassembler::item& i) noexcept {
  auto* const r = requests_.find(i.head.id, op_kind::get);
  if (r == nullptr || i.head.payload > r->missing) return false;
  frame_ = i.head;
  missing_ = i.missing;
  to_ = destination::memory;
  memory_ = r->into + i.payload.size();
  copy_few(r->into, i.payload);
  r->into += i.head.payload;
  r->missing -= i.head.payload;
  return true;
}

bool connection::on_atomic(const frame& f) noexcept {
  const auto pin = shared_.regions.look_up(region_of(f), f.offset, f.width, rights::atomic);
  if (pin.code() != status::done) return answer(f.id, pin.code(), 0);
  if (reinterpret_cast<std::uintptr_t>(pin.at()) % f.width != 0)
    return answer(f.id, status::misaligned, 0);
  const std::uint64_t before =
      f.width == 4 ? apply<std::uint32_t>(f, pin.at()) : apply<std::uint64_t>(f, pin.at());
  return answer(f.id, status::done, before);
}

bool connection::on_reply(const frame& f) noexcept {
  const auto* r = requests_.find(f.id, op_kind::get);
  if (r != nullptr) {
    if (f.code == status::done && r->missing != 0) return false;
  } else {
    r = requests_.find(f.id, op_kind::atomic);
    if (r == nullptr) return false;
    // Little-endian, so a narrow value is the first bytes of a wide one.
    if (f.code == status::done && !r->of->memory.empty())
      std::memcpy(r->into, &f.value, r->of->width);
  }
  finish_request(f.id, f.code);
  return true;
}

void connection::finish_request(std::uint32_t id, status code) noexcept {
  shared_.end(requests_.take(id), code);
}

}  // namespace heddle::transport::tcp
