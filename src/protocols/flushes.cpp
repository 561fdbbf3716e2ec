// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flushes.h"

#include "protocols/operations.h"
#include "tracing/operation.h"

namespace heddle::protocols {

status flushes::wait(const command& c, peer* p, protocol& owner) {
  const std::uint64_t under_way = p != nullptr ? p->counted : counted_;
  if (under_way == 0) return p != nullptr && p->lost ? status::peer_lost : status::done;
  if (ops_.room().full()) return status::busy_records;
  request& r = ops_.begin(nullptr, c, owner);
  r.at = stage::flushing;
  r.flushes = p != nullptr ? &p->flushes : &of_all_;
  r.flushes->add(r, ++last_, under_way);
  ++waiting_;
  return status::posted;
}

void flushes::tell(peer& p, std::uint64_t mark) {
  const bool lost = p.lost && cut_off_ == status::done;
  tell(p.flushes, mark, lost ? status::peer_lost : cut_off_);
  tell(of_all_, mark, cut_off_);
}

void flushes::tell(flush_queue& queue, std::uint64_t mark, status code) {
  queue.note_end(mark);
  while (request* const ended = queue.take_ended()) {
    --waiting_;
    ops_.finish(*ended, code);
  }
}

status flushes::cancel(const completion& which) {
  request* found = nullptr;
  ops_.pool().each([&](request& r) {
    if (r.at == stage::flushing && trace::of_program(r.done) == which) found = &r;
  });
  if (found == nullptr) return status::not_found;
  found->flushes->remove(*found);
  --waiting_;
  ops_.finish(*found, status::canceled);
  return status::done;
}

}  // namespace heddle::protocols
