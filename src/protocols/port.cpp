// port.cpp - links, records and the backlog: what all protocols stand on.
#include "protocols/port.h"

#include <algorithm>
#include <utility>

namespace heddle::protocols {
namespace {

/// Control messages that may wait for room; an honest peer causes no more than it has records.
constexpr std::size_t max_control = 1 << 16;

}  // namespace

port::port(engine::lane_core& lane, const surroundings& where,
           std::vector<std::unique_ptr<transport::endpoint>> endpoints)
    : lane_(lane),
      where_(where),
      most_in_flight_(where.config->records),
      endpoints_(std::move(endpoints)),
      only_(endpoints_.size() == 1 ? endpoints_.front().get() : nullptr),
      links_(static_cast<std::size_t>(where.size)),
      empty_polls_(endpoints_.size()) {}

port::~port() = default;

status port::execute_other(const command& c) {
  switch (c.kind) {
    case command_kind::send:
      return send(c);
    case command_kind::recv:
      return receive(c.peer, c.match, c.memory, c.done, *out_);
    case command_kind::call:
      return call(c);
    case command_kind::flush:
      return wait_for_flush(c);
    case command_kind::when_ready:
      room_waiters_.push_back(c.done);
      if (!full()) wake_room_waiters();
      return status::posted;
    default:
      return status::invalid;
  }
}

void port::execute_accepted(const command& c, delivery_batch& out) {
  must_take_ = true;
  const status s = execute(c, out);
  must_take_ = false;
  if (s == status::posted) return;
  const std::size_t bytes = s == status::done ? c.memory.size() : 0;
  out.add(c.done, {.code = s, .peer = c.peer, .tag = 0, .bytes = bytes});
}

link& port::make_link(rank peer) {
  auto& slot = links_[static_cast<std::size_t>(peer)];
  slot = std::make_unique<link>();
  const settings& config = *where_.config;
  const std::uint8_t device = where_.route[static_cast<std::size_t>(peer)];
  const transport::traits& traits = where_.devices[device]->describe();
  slot->peer = peer;
  slot->device = device;
  slot->wire = endpoints_[device].get();
  const std::uint8_t atomics = where_.atomic_route[static_cast<std::size_t>(peer)];
  slot->no_atomics = atomics == no_route;
  if (atomics != device && atomics != no_route) slot->atomics = endpoints_[atomics].get();
  slot->copies_in_post = traits.copies_in_post;
  slot->refuses_late = traits.refuses_late;
  slot->native = transport::usable_ops(traits);
  const bool on_wire =
      atomics == device && (slot->native & transport::only(transport::op_kind::atomic)) != 0;
  slot->native_atomics = on_wire ? traits.atomics : transport::atomic_set::none();
  slot->max_op = traits.max_op;
  slot->max_payload = traits.max_message - max_overhead;
  slot->eager_bytes =
      config.eager_bytes == 0 ? slot->max_payload : std::min(config.eager_bytes, slot->max_payload);
  slot->credit_limit = slot->credit = config.credit_bytes;
  active_.push_back(slot.get());
  return *slot;
}

// --- records ---------------------------------------------------------------------------

record& port::begin(link* l, const command& c) {
  record& r = records_.take();
  in_flight_.add();
  r.what = c;
  r.at = stage::waiting;
  bytes_.set(bytes_.get() + c.memory.size());
  if (l != nullptr) {
    r.with = l;
    l->records.push_back(r);
  }
  return r;
}

void port::finish(record& r, outcome what) {
  out_->add(r.what.done, what);
  release(r);
}

void port::finish(record& r, status code) {
  const command& c = r.what;
  const std::size_t bytes = code == status::done ? c.memory.size() : 0;
  finish(r, {.code = code, .peer = c.peer, .tag = 0, .bytes = bytes});
}

void port::release(record& r) {
  if (r.at == stage::backlog) r.with->backlog.remove(r);
  if (r.at == stage::pieces) in_pieces_.remove(r);
  if (r.lent.generation != 0) {
    where_.devices[r.with->device]->withdraw({.ref = r.lent, .memory = {}, .allowed = {}});
    where_.regions->remove(r.lent);
  }
  link* const l = r.with;
  if (l != nullptr) l->records.remove(r);
  const bool counted = r.counted;
  bytes_.set(bytes_.get() - r.what.memory.size());
  records_.give_back(r);
  in_flight_.subtract();
  if (counted) count_down(*l);
}

void port::count_down(link& l) {
  --counted_;
  if (--l.counted == 0 && !l.flushes.empty())
    wake_flushes(l.flushes, l.lost ? status::peer_lost : status::done);
  if (counted_ == 0 && !flushes_.empty()) wake_flushes(flushes_, status::done);
}

// --- flush and room --------------------------------------------------------------------

status port::wait_for_flush(const command& c) {
  if (c.peer != any_source && !valid(c.peer)) return status::invalid;
  link* l = c.peer == any_source ? nullptr : links_[static_cast<std::size_t>(c.peer)].get();
  if (c.peer != any_source && l == nullptr) return status::done;
  if ((l != nullptr ? l->counted : counted_) == 0) {
    return l != nullptr && l->lost ? status::peer_lost : status::done;
  }
  record& r = begin(nullptr, c);
  (l != nullptr ? l->flushes : flushes_).push_back(r);
  return status::posted;
}

void port::wake_flushes(queue_list& waiting, status code) {
  while (record* r = waiting.front()) {
    waiting.remove(*r);
    finish(*r, code);
  }
}

void port::wake_room_waiters() {
  for (const completion& c : std::exchange(room_waiters_, {})) out_->add(c, {});
}

// --- the way to the wire ---------------------------------------------------------------

status port::post_message(link& l, const message& m, std::span<const std::byte> payload) {
  return post(l, prefix(m), payload);
}

/// A message of the program that travels whole.
status port::post_eager(link& l, const command& c) {
  return post(l, eager_prefix(c), c.memory);
}

prefix port::eager_prefix(const command& c) noexcept {
  const bool tagged = c.kind == command_kind::send;
  return prefix(tagged ? message_kind::tag_eager : message_kind::call_eager, c.handler, c.header,
                c.match.value);
}

status port::post(link& l, const prefix& p, std::span<const std::byte> payload) {
  if (batching_) [[unlikely]] {
    post_batch();  // which goes first
    if (l.blocked) return status::busy_queue;
  }
  transport::op o;
  describe_message(l, p, payload, o);
  return post_one(*l.wire, o);
}

void port::describe_message(const link& l, const prefix& p, std::span<const std::byte> payload,
                            transport::op& o) noexcept {
  o.kind = transport::op_kind::send;
  o.over = false;
  o.peer = l.peer;
  o.head = read_head(p.bytes());
  o.header = p.bytes().subspan(sizeof o.head);
  o.memory = transport::only_read(payload);
}

status port::post_control(link& l, const message& m) {
  if (m.kind == message_kind::rma_get) return answer_get(l, m);
  if (m.kind != message_kind::call_eager) return post_message(l, m, {});
  message notification = m;  // its header is the value, which travels in `operand` until now
  notification.header = std::as_bytes(std::span(&m.operand, 1));
  return post_message(l, notification, {});
}

/// Without its own messages a protocol cannot go on, so a peer that cannot be sent them is lost.
void port::send_control(link& l, const message& m) {
  if (l.lost) return;
  if (l.control.empty()) {
    const status s = post_control(l, m);
    if (s == status::done) return;
    if (s != status::busy_queue) return unreachable(l, s);
  }
  if (l.control.size() >= max_control) return violated(l);
  message kept = m;
  kept.header = kept.payload = {};
  l.control.push_back(kept);
  block(l);
}

void port::block(link& l) {
  if (std::exchange(l.blocked, true)) return;
  blocked_.push_back(&l);
  counters_.backlogged.add();
}

/// Nothing enters a backlog past what the batch holds: its messages were accepted before.
void port::enqueue(link& l, record& r) {
  post_batch();
  r.at = stage::backlog;
  l.backlog.push_back(r);
  block(l);
}

/// For an operation just begun: `posted`, or how it ended at once, in which case it is released
/// and its completion not delivered.
status port::start_or_queue(link& l, record& r) {
  if (!l.backlog.empty()) {
    enqueue(l, r);
    return status::posted;
  }
  const status s = start(l, r);
  if (s == status::posted) return s;
  if (s == status::busy_queue) {
    enqueue(l, r);
    return status::posted;
  }
  release(r);
  return s;
}

/// Hands an operation to the wire: posted, busy_queue (no room: nothing changed), or its end.
status port::start(link& l, record& r) {
  const bool incoming = r.source != any_source;
  switch (r.what.kind) {
    case command_kind::send:
      return r.eager ? start_message(l, r) : start_request(l, r);
    case command_kind::call:
      if (incoming) return start_fetch(l, r);
      return r.eager ? start_message(l, r) : start_request(l, r);
    case command_kind::recv:
      return start_fetch(l, r);
    default:
      return start_access(l, r);
  }
}

/// The end of an operation that start() took, or refused to.
void port::end(record& r, status code) {
  if (r.source != any_source) return fetched(r, code);
  if (r.what.kind == command_kind::put_notify && code == status::done) notify(*r.with, r.what);
  finish(r, code);
}

/// True when nothing of the link waits any more.
bool port::flush_link(link& l) {
  while (!l.control.empty()) {
    const status s = post_control(l, l.control.front());
    if (s == status::busy_queue) return l.lost;
    if (s != status::done) {
      unreachable(l, s);
      return true;
    }
    l.control.pop_front();
  }
  while (record* r = l.backlog.front()) {
    const status s = start(l, *r);
    if (s == status::busy_queue) return l.lost;
    l.backlog.remove(*r);
    if (r->at == stage::backlog) r->at = stage::waiting;
    if (s != status::posted) end(*r, s);
  }
  return l.lost || l.control.empty();  // what has ended may have had something to say to the peer
}

void port::flush_blocked() {
  for (std::size_t i = 0; i < blocked_.size();) {  // grows meanwhile when other links get blocked
    link* const l = blocked_[i];
    if (!flush_link(*l)) {
      ++i;
      continue;
    }
    l->blocked = false;
    blocked_[i] = blocked_.back();
    blocked_.pop_back();
  }
}

}  // namespace heddle::protocols
