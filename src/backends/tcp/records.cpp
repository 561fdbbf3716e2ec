// records.cpp - the operations one endpoint has in flight.
#include "backends/tcp/records.h"

namespace heddle::transport::tcp {

record_pool::record_pool(std::size_t capacity) : records_(capacity), available_(capacity) {
  for (std::size_t i = capacity; i-- > 0;) {
    records_[i].next = free_;
    free_ = static_cast<record_id>(i);
  }
}

record_id record_pool::take_part(record_id whole, const connection* via) noexcept {
  op like;
  like.kind = records_[whole].kind;
  like.peer = records_[whole].peer;
  const record_id id = take(like, via);
  records_[id].whole = whole;
  ++records_[whole].parts;
  return id;
}

record* record_pool::find(std::uint32_t id, const connection& via, op_kind kind) noexcept {
  if (id >= records_.size()) return nullptr;
  record& r = records_[id];
  const bool ours = r.use == record::use_t::in_flight && r.via == &via && r.kind == kind;
  return ours ? &r : nullptr;
}

void record_pool::finish(record_id id, status code) noexcept {
  record& r = records_[id];
  if (r.code == status::done) r.code = code;
  if (r.whole == no_record) {
    r.use = record::use_t::ended;
    push(ended_, id);
    return;
  }
  record& whole = records_[r.whole];
  if (whole.code == status::done) whole.code = r.code;
  const record_id above = r.whole;
  release(id);
  if (--whole.parts == 0) finish(above, whole.code);
}

void record_pool::lose(rank peer) noexcept {
  // Parts first: the last one ends its whole.
  for (const bool wholes : {false, true}) {
    for (record_id id = 0; id < records_.size(); ++id) {
      const record& r = records_[id];
      if (r.use != record::use_t::in_flight || r.peer != peer) continue;
      if (wholes || r.whole != no_record) finish(id, status::peer_lost);
    }
  }
}

event record_pool::take_ended() noexcept {
  const record_id id = pop(ended_);
  const record& r = records_[id];
  event e;
  e.code = r.code;
  e.peer = r.peer;
  e.of = r.of;
  release(id);
  return e;
}

void record_pool::release(record_id id) noexcept {
  records_[id].use = record::use_t::free;
  records_[id].next = free_;
  free_ = id;
  ++available_;
  ++released_;
}

}  // namespace heddle::transport::tcp
