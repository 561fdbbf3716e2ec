// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/large_transfers.h"

#include <algorithm>
#include <cstring>

namespace heddle::transport::utofu {
namespace {

/// Pieces of one transfer under way at a time.
constexpr std::uint8_t pieces_under_way = 4;

struct large_notes {
  way to;
  std::uint64_t issued = 0;
  union {
    kept_lease held;
    std::byte* slot = nullptr;  // of the piece that is under way, which is then the only one
  };
  std::uint8_t under_way = 0;
  bool pinned = false;
  status failure = status::done;
};

}  // namespace

status large_transfers::begin(const way& to, op& o, kept_lease::lease held) noexcept {
  try {
    active_.push_back(&o);
  } catch (const std::bad_alloc&) {
    return status::busy_queue;
  }
  auto& notes = o.make_notes<large_notes>();
  notes.to = to;
  notes.pinned = static_cast<bool>(held);
  if (notes.pinned) notes.held.keep(std::move(held));
  post_pieces(o);
  return status::posted;
}

void large_transfers::post_pieces(op& o) noexcept {
  auto& notes = o.notes<large_notes>();
  const std::uint8_t most = notes.pinned ? pieces_under_way : 1;
  while (!static_cast<const peer_state&>(*o.to).lost && notes.failure == status::done &&
         notes.issued < o.memory.size() && notes.under_way < most && post_piece(o)) {
  }
}

bool large_transfers::post_piece(op& o) noexcept {
  auto& notes = o.notes<large_notes>();
  if (queue_.window().full()) return false;
  const bool is_put = o.kind == op_kind::put;
  work_request c;
  c.what = is_put ? work_request::form::put : work_request::form::get;
  c.there = notes.to.address + o.offset + notes.issued;
  c.bytes = std::min(notes.pinned ? max_piece : slot_piece, o.memory.size() - notes.issued);
  std::byte* slot = nullptr;
  if (notes.pinned) {
    c.here = notes.held.get().handle() + notes.held.get().offset() + notes.issued;
  } else {
    slot = slots_.take();
    if (slot == nullptr) return false;
    c.here = slots_.address_of(slot);
    if (is_put) std::memcpy(slot, o.memory.data() + notes.issued, c.bytes);
  }
  status posted = status::busy_queue;
  try {
    posted = queue_.submit([&] { return c; }, *notes.to.via, queue_of(o.kind),
                           pending(o, ending::piece));
  } catch (const std::bad_alloc&) {
    posted = status::busy_queue;
  }
  if (posted != status::done) {
    if (slot != nullptr) slots_.give_back(slot);
    return false;
  }
  if (slot != nullptr) notes.slot = slot;
  notes.issued += c.bytes;
  ++notes.under_way;
  return true;
}

bool large_transfers::piece_ended(op& o, status& code) noexcept {
  auto& notes = o.notes<large_notes>();
  --notes.under_way;
  if (code != status::done && notes.failure == status::done) notes.failure = code;
  if (!notes.pinned) {
    const std::size_t begin = (notes.issued - 1) / slot_piece * slot_piece;
    if (code == status::done && o.kind == op_kind::get)
      std::memcpy(o.memory.data() + begin, notes.slot, notes.issued - begin);
    slots_.give_back(notes.slot);
  }
  const bool over = notes.issued == o.memory.size() || notes.failure != status::done ||
                    static_cast<const peer_state&>(*o.to).lost;
  if (notes.under_way != 0 || !over) return false;
  code = notes.failure;
  if (code == status::done && notes.issued != o.memory.size()) code = status::peer_lost;
  release(o);
  active_.erase(std::find(active_.begin(), active_.end(), &o));
  return true;
}

bool large_transfers::is_over_with(const peer_state& p, op& o) noexcept {
  const auto& notes = o.notes<large_notes>();
  return o.to == &p && notes.under_way == 0;
}

void large_transfers::release(op& o) noexcept {
  auto& notes = o.notes<large_notes>();
  if (notes.pinned) notes.held.release();
}

}  // namespace heddle::transport::utofu
