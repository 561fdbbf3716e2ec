// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/path.h"

#include <fmt/format.h>

#include <utility>

#include "tracing/recorder.h"

namespace heddle::protocols {
namespace {

/// Control messages that one request of a peer causes at most: it asks for its data in pieces.
constexpr std::size_t control_each = 16;

}  // namespace

status protocol::say(peer& to, const message& m) {
  return path_.post(to, m);
}

// --- messages --------------------------------------------------------------------------

/// A peer that the wire knows to be gone counts as full until the event that says so, and why: it
/// comes first of all that ends.
status path::post_on(const rail& on, transport::op& o, const peer& p) {
  if (p.lost) return status::peer_lost;
  o.to = on.to;
  const status s = on.by->post(o);
  return s == status::peer_lost ? status::busy_queue : s;
}

status path::post(peer& p, const transport::message_head& head, std::span<const std::byte> header,
                  std::span<const std::byte> data) {
  if (batch_.is_open()) [[unlikely]] {
    batch_.post();  // what it has goes first
    if (p.blocked) return status::busy_queue;
  }
  transport::op o;
  o.head = head;
  o.header = header;
  o.memory = transport::only_read(data);
  return post_on(p.wire, o, p);
}

status path::post(peer& p, const message& m, std::span<const std::byte> data) {
  const prefix front(m);
  return post(p, front.head(), front.rest(), data);
}

/// Without its own messages a protocol cannot go on, so a peer that cannot be sent them is lost.
void path::control(peer& p, const message& m) {
  if (p.lost) return;
  if (p.control.empty()) {
    const status s = kinds_[index_of(m.kind)]->say(p, m);
    if (s == status::done || p.lost) return;
    if (s != status::busy_queue) return unreachable(p, s);
  }
  const bool is_notification = m.kind == message_kind::call_eager;  // no peer's doing
  if (!is_notification && p.control.size() >= ops_.room().most_of_peer(control_each))
    return violated(p);
  message kept = m;
  kept.header = kept.payload = {};
  p.control.push_back(kept);
  kept_.add();
  block(p);
}

// --- requests --------------------------------------------------------------------------

status path::submit(request& r) {
  if (!r.with->backlog.empty()) {
    enqueue(r);
    return status::posted;
  }
  const status s = r.owner->start(r);
  if (s == status::posted) return s;
  if (s == status::busy_queue) {
    enqueue(r);
    return status::posted;
  }
  ops_.release(r);
  return s;
}

void path::resume(request& r) {
  const status s = r.with->backlog.empty() ? r.owner->start(r) : status::busy_queue;
  if (s == status::busy_queue) return enqueue(r);
  if (s != status::posted) r.owner->ended(r, s);
}

void path::enqueue(request& r) {
  peer& p = *r.with;
  batch_.post();
  if (p.lost) return r.owner->ended(r, status::peer_lost);
  p.backlog.add(r);
  r.at = stage::backlog;
  block(p);
}

const rail& path::rail_of(const request& r) noexcept {
  const peer& p = *r.with;
  if (r.kind == transport::op_kind::atomic && p.atomics.by != nullptr) return p.atomics;
  if (r.rail != 0 && p.several->rails[r.rail].by != nullptr) return p.several->rails[r.rail];
  return p.wire;
}

status path::post(request& r) {
  peer& p = *r.with;
  const rail& on = rail_of(r);
  r.over = false;
  if (batch_.takes() && &on == &p.wire && r.by == carrier::undecided) {
    r.at = stage::wire;
    r.to = on.to;
    batch_.add(r);
    return status::posted;
  }
  const status s = post_on(on, r, p);
  if (s == status::posted) r.at = stage::wire;
  return s;
}

/// It goes into the backlog of its peer, which keeps back all for the same peer behind it.
void path::refused(request& r, status reason) {
  take_in_hand(r);
  if (reason == status::busy_queue || reason == status::peer_lost) {
    enqueue(r);
  } else if (reason == status::unsupported && r.kind != transport::op_kind::send) {
    r.by = carrier::messages;  // not this region
    resume(r);
  } else {
    r.owner->ended(r, reason);
  }
}

// --- progress --------------------------------------------------------------------------

void path::block(peer& p) {
  if (std::exchange(p.blocked, true)) return;
  blocked_.push_back(&p);
  counters_.backlogged.add();
  if (trace::is_watched()) [[unlikely]]
    trace::note(trace::event_kind::no_room, p.number, 1);
}

/// True when nothing of the peer waits any more.
bool path::flush(peer& p) {
  while (!p.control.empty()) {
    const message& m = p.control.front();
    const status s = kinds_[index_of(m.kind)]->say(p, m);
    if (p.lost) return true;
    if (s == status::busy_queue) return false;
    if (s != status::done) {
      unreachable(p, s);
      return true;
    }
    p.control.pop_front();
    kept_.subtract();
  }
  while (!p.backlog.empty()) {
    request& r = p.backlog.take_first();
    const status s = r.owner->start(r);
    if (s == status::busy_queue && !p.lost) {
      p.backlog.add_first(r);
      r.at = stage::backlog;
      return false;
    }
    if (s != status::posted) r.owner->ended(r, p.lost ? status::peer_lost : s);
  }
  return p.control.empty();  // what has ended may have had something to say to the peer
}

void path::flush_blocked() {
  for (std::size_t i = 0; i < blocked_.size();) {  // grows meanwhile when other peers get blocked
    peer* const p = blocked_[i];
    if (!flush(*p)) {
      ++i;
      continue;
    }
    p->blocked = false;
    blocked_[i] = blocked_.back();
    blocked_.pop_back();
  }
}

// --- peers that go ---------------------------------------------------------------------

void path::violated(peer& p) {
  counters_.violations.add();
  lose(p, "it sent what no engine sends");
}

/// The wire can do nothing for a message to the peer, now and later.
void path::unreachable(peer& p, status refusal) {
  lose(p, fmt::format("messages to it are refused here: {}", name_of(refusal)));
}

}  // namespace heddle::protocols
