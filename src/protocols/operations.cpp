// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/operations.h"

namespace heddle::protocols {

request& operations::begin(peer* p, const command& c, protocol& owner) {
  request& r = pool_.take();
  r.what = c.kind;
  r.by = carrier::undecided;
  r.rail = 0;
  r.counted = r.mappable = r.over = r.tells = false;
  r.failure = status::done;
  r.handler = c.handler;
  r.with = p;
  r.owner = &owner;
  r.done = c.done;
  r.bytes = c.memory.size();
  r.tag = c.match.value;
  r.early = nullptr;
  r.delivered = {};
  r.since_ns = r.issued = r.moved = r.part_of = r.sender_id = r.message_bytes = 0;
  room_.take();
  bytes_.add(r.bytes);
  r.number = c.peer;
  if (p != nullptr) p->requests.push_back(r);
  return r;
}

void operations::finish(request& r, const outcome& what) {
  out_->add(r.done, what);
  release(r);
}

void operations::finish(request& r, status code) {
  finish(r, {.code = code, .peer = r.number, .bytes = code == status::done ? r.bytes : 0});
}

void operations::release(request& r) {
  peer* const p = r.with;
  if (p != nullptr) p->requests.remove(r);
  const bool counted = r.counted;
  const std::uint64_t mark = r.mark;
  bytes_.subtract(r.bytes);
  r.payload.reset();
  r.call_header.reset();
  if (++r.generation == 0) r.generation = 1;
  pool_.give_back(r);
  room_.give_back();
  if (counted) flushes_.end_access(*p, mark);
}

void operations::abort(status code) {
  pool_.each([&](request& r) {
    if (r.at == stage::direct) end_direct(r, code);
  });
  room_.tell_all(*out_);
}

}  // namespace heddle::protocols
