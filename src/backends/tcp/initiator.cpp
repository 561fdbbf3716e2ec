// SPDX-License-Identifier: BSD-3-Clause
// initiator.cpp - how ops become frames, and answers the end of ops.
#include "backends/tcp/initiator.h"

#include "base/copy.h"

namespace heddle::transport::tcp {

bool initiator::has_room_for(const op& o) const noexcept {
  if (o.kind != op_kind::put) return requests_.has_room() && out_.has_room(max_header);
  if (out_.unacknowledged.size() + post_transfers >= put_window) return false;
  if (o.memory.size() > copy_bytes) return out_.has_transfer_room();
  return out_.has_room(max_header + o.memory.size() + write_queue::notice_bytes(o));
}

void initiator::begin(op& o) noexcept {
  if (o.kind == op_kind::get) return begin_get(o);
  if (o.kind == op_kind::atomic) return begin_atomic(o);
  o.memory.size() > copy_bytes ? out_.add_put(o) : begin_small_put(o);
}

void initiator::begin_small_put(op& o) noexcept {
  std::byte* const at = out_.frames.extend(24 + o.memory.size());
  write_put(at, flag_last, o.region.slot, o.region.generation, o.offset,
            static_cast<std::uint32_t>(o.memory.size()));
  copy_few(at + 24, o.memory);
  out_.unacknowledged.push(&o);
  if (o.tells) (void)out_.add_notice(o);  // there is room
}

void initiator::begin_get(op& o) noexcept {
  write_get(out_.frames.extend(32), requests_.add(o), o.region.slot, o.region.generation, o.offset,
            o.memory.size());
}

void initiator::begin_atomic(op& o) noexcept {
  frame f;
  f.atomic = o.atomic;
  f.width = o.width;
  f.id = requests_.add(o);
  f.slot = o.region.slot;
  f.generation = o.region.generation;
  f.offset = o.offset;
  f.operand = o.operand;
  f.compare = o.compare;
  write_atomic(out_.frames.extend(40), f);
}

void initiator::end_all() noexcept {
  out_.discard();
  for (; !out_.unacknowledged.empty(); out_.unacknowledged.pop())
    shared_.end(*out_.unacknowledged.front(), status::peer_lost);
  requests_.take_all([&](op& o) { shared_.end(o, status::peer_lost); });
}

bool initiator::on_put_ack(const frame& f) noexcept {
  if (f.count > out_.unacknowledged.size()) return false;
  for (std::uint32_t i = 0; i < f.count; ++i, out_.unacknowledged.pop()) {
    if (out_.is_sending(out_.unacknowledged.front())) return false;
    shared_.end(*out_.unacknowledged.front(), f.code);
  }
  return true;
}

bool initiator::on_get_data(const frame& f, std::span<const std::byte> here) noexcept {
  auto* const r = requests_.find(f.id);
  if (r == nullptr || r->of->kind != op_kind::get || f.payload > r->missing) return false;
  copy_few(r->into, here);
  r->into += f.payload;
  r->missing -= f.payload;
  return true;
}

bool initiator::end_get_data(const frame& f) noexcept {
  if ((f.flags & flag_whole) == 0) return true;
  if (requests_.find(f.id)->missing != 0) return false;
  shared_.end(requests_.take(f.id), status::done);
  return true;
}

bool initiator::on_reply(const frame& f) noexcept {
  const auto* const r = requests_.find(f.id);
  if (r == nullptr) return false;
  if (f.code == status::done) {
    if (r->of->kind == op_kind::get && r->missing != 0) return false;
    // Little-endian, so a narrow value is the first bytes of a wide one.
    if (r->of->kind == op_kind::atomic && !r->of->memory.empty())
      copy_short(r->into, std::as_bytes(std::span(&f.value, 1)).first(r->of->width));
  }
  shared_.end(requests_.take(f.id), f.code);
  return true;
}

}  // namespace heddle::transport::tcp
