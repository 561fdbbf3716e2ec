// port_peer.cpp - peers that go silent, die or break the rules, and the end of the port itself.
#include <fmt/format.h>

#include <utility>

#include "protocols/lost_peers.h"
#include "protocols/port.h"

namespace heddle::protocols {
/// From here on the peer is dead for this lane: what it owes us ends, nothing goes to it.
void port::lose(link& l, std::string why) {
  post_batch();  // of which nothing must be left that names this link
  if (std::exchange(l.lost, true)) return;
  counters_.lost_peers.add();
  const bool missed =
      !l.records.empty() || l.counted != 0 || !matcher_.receives_from(l.peer).empty();
  out_->add(where_.losses->note(where_.lane, l.peer, std::move(why), missed), {});
  l.wire->drop(l.peer);
  if (l.atomics != nullptr) l.atomics->drop(l.peer);
  l.control.clear();
  matcher_.forget_requests(l.peer);
  const bool starting = std::exchange(starting_calls_, true);  // none now: it would end records
  for (record* r = l.records.front(); r != nullptr;) {
    record* const next = link_list::next(*r);
    // A native one ends by the backend's event; a message already matched ends like any other.
    if (!r->native && r->at != stage::waiting) {
      if (r->source != any_source) {
        if (r->at == stage::backlog) l.backlog.remove(*r);
        if (r->at == stage::pieces) in_pieces_.remove(*r);
        r->at = stage::waiting;
        fetched(*r, status::peer_lost);
      } else {
        finish(*r, status::peer_lost);
      }
    }
    r = next;
  }
  starting_calls_ = starting;
  end_receives(l.peer, status::peer_lost);
  if (l.counted == 0) wake_flushes(l.flushes, status::peer_lost);
  start_deferred_calls();
}

/// Ends the receives that name `source`, oldest first.
void port::end_receives(rank source, status code) {
  for (posted_receive* r : matcher_.receives_from(source)) end_receive(*r, code);
}

/// The peer sent what no honest engine sends: it is not talked to any more.
void port::violated(link& l) {
  counters_.violations.add();
  lose(l, "it sent what no engine sends");
}

/// The wire can do nothing for a message to the peer, now and later.
void port::unreachable(link& l, status refusal) {
  lose(l, fmt::format("messages to it are refused here: {}", name_of(refusal)));
}

void port::maintain(std::uint64_t now_ns, delivery_batch& out) {
  out_ = &out;
  for (const auto& e : endpoints_) e->maintain();
  stamp(now_ns);
  for (link* l : active_) l->awaited = false;
  matcher_.each_receive([&](const posted_receive& r) {
    if (r.source != any_source) links_[static_cast<std::size_t>(r.source)]->awaited = true;
  });
  for (std::size_t i = 0; i < active_.size(); ++i) maintain_link(*active_[i], now_ns);
}

/// A peer we wait for and that says nothing is asked for a sign of life, then given up.
void port::maintain_link(link& l, std::uint64_t now_ns) {
  if (l.lost) return;
  const bool nothing_due = l.records.empty() && l.counted == 0 && !l.awaited;
  if (nothing_due || std::exchange(l.heard, false) || l.silent_since_ns == 0) {
    l.pinged = false;
    l.silent_since_ns = nothing_due ? 0 : now_ns;
    return;
  }
  const std::uint64_t silent_ms = (now_ns - l.silent_since_ns) / 1'000'000;
  if (silent_ms >= where_.config->peer_timeout_ms)
    return lose(l, fmt::format("it has said nothing for {:.3g} s, although it was asked "
                               "(HEDDLE_PEER_TIMEOUT_MS)",
                               static_cast<double>(silent_ms) / 1000));
  if (silent_ms * 3 < where_.config->peer_timeout_ms || std::exchange(l.pinged, true)) return;
  message m;
  m.kind = message_kind::ping;
  send_control(l, m);
}

bool port::arm() noexcept {
  bool idle = in_pieces_.empty();
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    idle = endpoints_[i]->arm() && idle;
    empty_polls_[i] = 0;  // after a sleep every endpoint is looked at
  }
  return idle;
}

bool port::unsent() const noexcept {
  if (!blocked_.empty() || !in_pieces_.empty()) return true;
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    if (where_.devices[i]->describe().defers && !endpoints_[i]->idle()) return true;
  }
  return false;
}

bool port::quiet() const noexcept {
  if (records_.in_use() + accesses_.in_use() != 0 || !blocked_.empty()) return false;
  for (const auto& e : endpoints_) {
    if (!e->idle()) return false;
  }
  return true;
}

void port::abort(status code, delivery_batch& out) {
  out_ = &out;
  accesses_.each([&](native_access& a) {
    if (a.with == nullptr) return;
    a.with->lost = true;
    end_access(a, code);
  });
  for (link* l : active_) {
    while (record* r = l->records.front()) {
      l->lost = true;
      r->source = any_source;  // what was being fetched ends here like anything else
      if (r->at == stage::waiting && r->what.kind == command_kind::call) deferred_calls_.remove(*r);
      r->owned.reset();
      finish(*r, code);
    }
    wake_flushes(l->flushes, code);
    end_receives(l->peer, code);
  }
  end_receives(any_source, code);
  wake_flushes(flushes_, code);
  wake_room_waiters();
}

void port::close() noexcept {
  active_.clear();
  blocked_.clear();
  links_.clear();
  endpoints_.clear();
  only_ = nullptr;
}

}  // namespace heddle::protocols
