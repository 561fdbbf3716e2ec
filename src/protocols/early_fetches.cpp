// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/early_fetches.h"

#include <cstring>
#include <memory>
#include <utility>

#include "protocols/eager.h"
#include "protocols/spare_payloads.h"

namespace heddle::protocols {

void early_fetches::begin(unexpected& filed) {
  peer& from = *filed.from;
  const std::uint64_t cost = credit::cost_of(filed.bytes);
  if (filed.bytes > from.eager_bytes || bytes_ + cost > most_ || ops_.room().full()) return;
  request& r = ops_.begin(&from, receive_command(from.number, filed.tag, {}, {}), *this);
  r.payload = memory_for(filed.bytes);
  if (r.payload == nullptr) return ops_.release(r);
  bytes_ += cost;
  filed.fetching = &r;
  r.early = &filed;
  rendezvous_.fetch(r, filed.data_at, {r.payload.get(), filed.bytes});
}

void early_fetches::ended(request& r, status code) {
  code = rendezvous_.end_fetch(r, code);
  r.early != nullptr ? keep(r, code) : deliver(r, code);
}

/// Nobody has asked for it yet.
void early_fetches::keep(request& r, status code) {
  unexpected& kept = *r.early;
  const std::uint64_t cost = credit::cost_of(r.message_bytes);
  --r.with->announcements;
  kept.fetching = nullptr;
  if (code == status::done) {
    kept.announced = false;
    kept.early = cost;
    kept.large = std::move(r.payload);
  } else {  // it cannot be had any more
    bytes_ -= cost;
    kept.failed = code;
    if (!kept.held) matcher_.messages.recycle(matcher_.messages.take(kept));
  }
  ops_.release(r);
}

void early_fetches::deliver(request& r, status code) {
  bytes_ -= credit::cost_of(r.message_bytes);
  const outcome what = rendezvous::received(r, code, r.delivered.size());
  if (what.bytes != 0) std::memcpy(r.delivered.data(), r.payload.get(), what.bytes);
  ops_.finish(r, what);
}

}  // namespace heddle::protocols
