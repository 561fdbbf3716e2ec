// port_pieces.cpp - transfers that this process's processor does, a piece in each turn, so that a
// message of a gigabyte does not keep its lane from everything else.
#include <algorithm>
#include <cstring>

#include "protocols/port.h"

namespace heddle::protocols {
namespace {

/// Copied in one turn: long enough that turning costs nothing, and half as long as a sleep.
constexpr std::uint64_t piece_bytes = 256 * 1024;

}  // namespace

/// Larger ones go by start_pieces(), where post() or a mapping would copy all of it at once.
bool port::needs_pieces(std::uint64_t bytes) noexcept {
  return bytes > piece_bytes;
}

/// done: the first piece was all of it. posted: more will follow. Else how it ended.
status port::start_pieces(link& l, record& r) {
  const status s = move_piece(l, r);
  if (s != status::done) return s;
  if (r.moved == fragmented_bytes(r)) return status::done;
  await_turn(r);
  return status::posted;
}

void port::await_turn(record& r) {
  r.at = stage::pieces;
  in_pieces_.push_back(r);
}

/// One piece of one transfer, in turn; there is one. Returns how many things happened.
std::size_t port::move_next_piece() {
  record* const r = in_pieces_.front();
  in_pieces_.remove(*r);
  r->at = stage::waiting;
  const status s = move_piece(*r->with, *r);
  if (s == status::busy_queue) {
    enqueue(*r->with, *r);
  } else if (s == status::unsupported) {  // not this region
    emulate(*r->with, *r);
  } else if (s != status::posted) {
    end_piece(*r, s);
  }
  return 1;
}

/// A piece has ended: with it all, or the next one waits for its turn.
void port::end_piece(record& r, status code) {
  if (code != status::done) return end(r, code);
  r.moved = r.issued;
  r.moved == fragmented_bytes(r) ? end(r, code) : await_turn(r);
}

/// posted: the wire goes on with it by itself after all, and tells when the piece has ended.
status port::move_piece(link& l, record& r) {
  const std::uint64_t bytes = std::min(fragmented_bytes(r) - r.moved, piece_bytes);
  if (r.source != any_source && r.remote.mappable && copy_mapped(l, r, bytes)) {
    r.issued = r.moved += bytes;
    return status::done;
  }
  if (!l.takes(r.source != any_source ? transport::op_kind::get : native_kind(r.what.kind)))
    return status::unsupported;
  r.source != any_source ? describe_fetch(r) : describe_transfer(r);
  r.offset += r.moved;
  r.memory = r.memory.subspan(r.moved, bytes);
  const status s = post_one(*l.wire, r);
  if (s != status::done && s != status::posted) return s;
  r.issued = r.moved + bytes;
  if (s == status::done) {
    r.moved = r.issued;
  } else {
    r.native = true;
    r.at = stage::wire;
  }
  return s;
}

}  // namespace heddle::protocols
