// port_rendezvous.cpp - large messages: the sender announces where the data lies, the receiver
// reads it when it has a place for it, and says so (receiver-read, research/engine 3.6).
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "protocols/port.h"

namespace heddle::protocols {
namespace {

/// Memory for large calls being fetched at one time; one call of any size is always let in.
constexpr std::uint64_t call_bytes_limit = 64 << 20;
/// Requests a peer may have waiting here; more than any honest sender has records.
constexpr std::size_t max_requests = 1 << 16;

rendezvous remote_of(const message& m) {
  return {.ref = {m.slot, m.generation},
          .offset = m.offset,
          .bytes = m.bytes,
          .id = m.id,
          .mappable = m.flag != 0};
}

}  // namespace

// --- the sender ------------------------------------------------------------------------

/// Makes the data readable for the peer: as part of a region it can map, or as a region of its own.
void port::lend(link& l, record& r, message& request) {
  const std::span<std::byte> data = r.what.memory;
  if (const auto mapped = where_.regions->find_mapped(data); mapped.ref.generation != 0) {
    request.slot = mapped.ref.slot;
    request.generation = mapped.ref.generation;
    request.offset = static_cast<std::uint64_t>(data.data() - mapped.memory.data());
    request.flag = 1;
    return;
  }
  if (r.lent.generation == 0) {
    const auto region = where_.regions->add(data, rights::read);
    r.lent = region.ref;
    if (r.lent.generation != 0) where_.devices[l.device]->expose(region);
  }
  request.slot = r.lent.slot;
  request.generation = r.lent.generation;
}

status port::start_request(link& l, record& r) {
  message m;
  const bool tagged = r.what.kind == command_kind::send;
  m.kind = tagged ? message_kind::tag_request : message_kind::call_request;
  m.word = r.what.match.value;
  m.handler = tagged ? handler_id{0} : r.what.handler;
  m.header = r.what.header;
  m.bytes = r.what.memory.size();
  m.id = r.id();
  if (m.bytes != 0) {
    lend(l, r, m);
    if (m.generation == 0) return status::busy_queue;  // no region left: later
  }
  if (const status s = post_message(l, m, {}); s != status::done) return s;
  counters_.rendezvous.add();
  r.at = stage::reply;
  return status::posted;
}

void port::on_finished(link& l, const message& m) {
  record* r = records_.find(m.word);
  if (r == nullptr || r->with != &l || r->at != stage::reply || r->source != any_source ||
      (r->what.kind != command_kind::send && r->what.kind != command_kind::call)) {
    return;  // ended meanwhile, or not ours to end
  }
  finish(*r, static_cast<status>(std::min(m.flag, static_cast<std::uint8_t>(status::closed))));
}

// --- the receiver ----------------------------------------------------------------------

void port::on_tag_request(link& l, const message& m) {
  if (posted_receive* found = matcher_.find_receive(l.peer, m.word)) {
    const posted_receive& wanted = take_receive(*found);
    return begin_receive_fetch(l, wanted.into, wanted.done, m.word, remote_of(m));
  }
  if (l.requests >= max_requests) return violated(l);
  auto kept = matcher_.fresh();
  kept->source = l.peer;
  kept->tag = m.word;
  kept->bytes = m.bytes;
  kept->announced = true;
  kept->remote = remote_of(m);
  ++l.requests;
  counters_.unexpected.add();
  matcher_.keep(std::move(kept));
}

/// The receive becomes an operation in flight: it was accepted, so it gets its record in any case.
void port::begin_receive_fetch(link& l, std::span<std::byte> into, const completion& done, tag t,
                               const rendezvous& remote) {
  command c;
  c.kind = command_kind::recv;
  c.peer = l.peer;
  c.memory = into;
  c.done = done;
  record& r = begin(&l, c);
  r.source = l.peer;
  r.matched_tag = t;
  begin_fetch(l, r, remote);
}

void port::on_call_request(link& l, const message& m) {
  if (l.requests >= max_requests) return violated(l);
  command c;
  c.kind = command_kind::call;
  c.peer = l.peer;
  c.handler = m.handler;
  record& r = begin(&l, c);
  r.source = l.peer;
  r.remote = remote_of(m);
  r.owned_header_bytes = static_cast<std::uint8_t>(m.header.size());
  r.owned_header = std::make_unique<std::byte[]>(max_call_header);
  if (!m.header.empty()) std::memcpy(r.owned_header.get(), m.header.data(), m.header.size());
  ++l.requests;
  deferred_calls_.push_back(r);
  start_deferred_calls();
}

/// Not re-entered from the calls it starts: a long queue must not become a deep stack.
void port::start_deferred_calls() {
  if (std::exchange(starting_calls_, true)) return;
  start_calls_that_fit();
  starting_calls_ = false;
}

void port::start_calls_that_fit() {
  while (record* r = deferred_calls_.front()) {
    if (call_bytes_ != 0 && call_bytes_ + r->remote.bytes > call_bytes_limit) return;
    deferred_calls_.remove(*r);
    --r->with->requests;
    begin_call_fetch(*r);
  }
}

void port::begin_call_fetch(record& r) {
  const std::uint64_t bytes = r.remote.bytes;
  const bool known = where_.handlers[r.what.handler].get() != nullptr;
  if (!known) counters_.unknown_handler.add();
  if (known) r.owned.reset(new (std::nothrow) std::byte[bytes]);
  if (r.owned) call_bytes_ += bytes;
  if (r.owned && bytes != 0) return begin_fetch(*r.with, r, r.remote);
  fetched(r, known && !r.owned ? status::no_memory : status::done);
}

void port::begin_fetch(link& l, record& r, const rendezvous& remote) {
  r.remote = remote;
  r.message_bytes = remote.bytes;
  if (fetch_into(r).empty()) return fetched(r, status::done);
  const status s = l.backlog.empty() ? start_fetch(l, r) : status::busy_queue;
  if (s == status::busy_queue) return enqueue(l, r);
  if (s != status::posted) fetched(r, s);
}

std::span<std::byte> port::fetch_into(const record& r) const noexcept {
  if (r.what.kind == command_kind::call) return {r.owned.get(), r.remote.bytes};
  return r.what.memory.first(std::min<std::size_t>(r.what.memory.size(), r.remote.bytes));
}

/// The region of a peer as mapped here, or null when it cannot be. Keeps the last few mapped.
const detail::remote_target* port::map(link& l, memory::region_ref ref) {
  for (const mapped_region& known : l.mapped) {
    if (known.ref == ref && known.target.live->is(known.target.generation)) return &known.target;
  }
  mapped_region made{.ref = ref, .target = {}, .mapping = nullptr};
  try {
    made.mapping = where_.devices[l.device]->import(l.peer, ref, made.target);
  } catch (const std::exception&) {
    return nullptr;  // the other ways find out what is wrong with the region
  }
  if (made.target.direct == nullptr) return nullptr;
  made.target.allowed = made.target.mapped = rights::read;
  mapped_region& place = l.mapped[l.next_mapped++ % l.mapped.size()];
  place = std::move(made);
  return &place.target;
}

/// `bytes` more through a mapping, where the sender's memory can be mapped here.
bool port::copy_mapped(link& l, record& r, std::uint64_t bytes) {
  const detail::remote_target* target = map(l, r.remote.ref);
  const std::uint64_t offset = r.remote.offset + r.moved;
  if (target == nullptr || !detail::reachable(*target, offset, bytes, rights::read)) return false;
  std::memcpy(fetch_into(r).data() + r.moved, target->direct + offset, bytes);
  return true;
}

void port::describe_fetch(record& r) const noexcept {
  r.transport::op::kind = transport::op_kind::get;
  r.over = false;
  r.peer = r.source;
  r.memory = fetch_into(r);
  r.region = r.remote.ref;
  r.offset = r.remote.offset;
}

status port::start_fetch(link& l, record& r) {
  const std::uint64_t bytes = fetch_into(r).size();
  const bool native = l.takes(transport::op_kind::get) && bytes <= l.max_op;
  const bool mapped = r.remote.mappable && map(l, r.remote.ref) != nullptr;
  if (needs_pieces(bytes) && (mapped || (native && l.copies_in_post))) return start_pieces(l, r);
  if (mapped && copy_mapped(l, r, bytes)) return status::done;
  if (!native) return pump(l, r);
  describe_fetch(r);
  const status s = post_one(*l.wire, r);
  if (s == status::unsupported) return pump(l, r);
  if (s != status::posted) return s;
  r.native = true;
  r.at = stage::fetching;
  return s;
}

/// The data is here, or will not come: tells the sender, then whoever waits for it here.
void port::fetched(record& r, status code) {
  link& l = *r.with;
  // Only a sender that has given this rank up, or has left, takes away what it has announced.
  if (code == status::withdrawn || code == status::denied || code == status::out_of_bounds)
    code = status::peer_lost;
  message m;
  m.kind = message_kind::finished;
  m.word = r.remote.id;
  m.flag = static_cast<std::uint8_t>(code);
  send_control(l, m);
  const std::span<std::byte> into = fetch_into(r);
  if (r.what.kind == command_kind::recv) {
    const bool cut = code == status::done && r.message_bytes > into.size();
    return finish(r, {cut ? status::truncated : code, r.source, r.matched_tag,
                      code == status::done ? into.size() : 0});
  }
  const std::uint64_t bytes = r.remote.bytes;
  const bool counted = r.owned != nullptr;
  if (counted && code == status::done) {
    out_->add_call(lane_, *where_.handlers[r.what.handler].get(), r.source,
                   {r.owned_header.get(), r.owned_header_bytes}, std::move(r.owned), bytes);
  }
  release(r);
  if (counted) call_bytes_ -= bytes;
  start_deferred_calls();
}

}  // namespace heddle::protocols
