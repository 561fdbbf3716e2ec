// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/transfers.h"

namespace heddle::protocols {

using transport::op_kind;

transfers::transfers(const surroundings& where, path& way, operations& ops, port_counters& counters)
    : path_(way),
      fragments_(way, ops, counters),
      stripes_(way, ops, fragments_, counters),
      pieces_(where, way) {}

status transfers::start(request& r) {
  peer& p = *r.with;
  if (r.by == carrier::messages) return fragments_.start(r);
  if (r.by == carrier::pieces) return pieces_.start(r);
  if (r.by == carrier::stripes) return stripes_.carry(r);
  const bool elsewhere = r.kind == op_kind::atomic && p.atomics.by != nullptr;
  const std::uint64_t bytes = r.local.size();
  const bool native = elsewhere || is_native(p, r.kind, r.atomic, r.width);
  const bool in_one = native && bytes <= p.max_op;
  const bool mapped = pieces_.is_mapped(r);
  if (mapped || (in_one && p.copies_in_post && bytes > pieces::piece_bytes)) {
    r.by = carrier::pieces;
    return start(r);
  }
  if (native && stripes::suit(r)) {
    r.by = carrier::stripes;
    return start(r);
  }
  if (in_one) return fragments_.start_on_wire(r);
  r.by = carrier::messages;
  return fragments_.start(r);
}

void transfers::wire_ended(request& r, status code) {
  r.with->heard = true;
  take_in_hand(r);
  if (code == status::unsupported) {  // not this region
    r.by = carrier::messages;
    r.issued = r.moved;
    return path_.resume(r);
  }
  r.by == carrier::pieces ? pieces_.ended(r, code) : r.owner->ended(r, code);
}

}  // namespace heddle::protocols
