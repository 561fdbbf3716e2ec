// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/liveness.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "protocols/stripes.h"

namespace heddle::protocols {

/// A rank is lost on all its lanes. The one of our own number stands for it: lanes that are met
/// later ask that one.
void liveness::lose(peer& p, std::string why) {
  path_.batch().post();
  if (p.lost) return;
  note(p, std::move(why));
  end_rank(p.number);
}

void liveness::left(peer& p, const transport::remote_lane& on, status code, std::string why) {
  if (code == status::unsupported && give_up_rail(p, on))
    return log::warn(log::subsystem::wire,
                     "lane {}: one of the rails to rank {} is done without, the others go on: {}",
                     where_.lane, p.number, why);
  path_.batch().post();
  if (p.lost) return;
  const bool known = std::ranges::find(leaving_, p.number) != leaving_.end();
  if (!known) note(p, std::move(why));
  if (&on == p.wire.to) end(p);
  const auto lives = [&](const peer* any) { return any->number == p.number && !any->lost; };
  if (std::ranges::none_of(peers_.all(), lives)) return end_rank(p.number);
  if (!known) leaving_.push_back(p.number);
}

void liveness::note(const peer& p, std::string why) {
  counters_.lost_peers.add();
  bool missed = !tagged_.matching().receives.from(p.number).empty();
  for (const peer* lane : peers_.all())
    if (lane->number == p.number) missed |= !lane->requests.empty() || lane->counted != 0;
  ops_.out().add(where_.losses->note(where_.lane, p.number, std::move(why), missed), {});
}

void liveness::end_rank(rank r) {
  (void)peers_.reach(r);
  for (std::size_t i = 0; i < peers_.all().size(); ++i)
    if (peer& each = *peers_.all()[i]; each.number == r) end(each);
  tagged_.end_receives(r, status::peer_lost);
}

void liveness::end(peer& p) {
  if (std::exchange(p.lost, true)) return;
  p.drop();
  path_.forget(p);
  const bool starting = calls_.hold_back();
  end_requests(p, status::peer_lost);
  tagged_.matching().messages.forget_announcements(p);
  calls_.go_on(starting);
}

/// Those that the wire has end by its events, and those in hand by whoever has them. A transfer
/// ends with its stripes.
void liveness::end_requests(peer& p, status code) {
  for (request* r = p.requests.front(); r != nullptr;) {
    request* const next = peer_requests::next(*r);
    if (r->at != stage::wire && r->at != stage::in_hand && r->at != stage::striped) {
      take_in_hand(*r);
      r->owner->ended(*r, code);
    }
    r = next;
  }
}

void liveness::on_message(peer& from, const message& m) {
  if (m.kind != message_kind::ping) return;  // having heard it is all
  message answer;
  answer.kind = message_kind::pong;
  path_.control(from, answer);
}

void liveness::look(std::uint64_t now_ns) {
  for (const rank r : std::exchange(leaving_, {})) end_rank(r);
  const std::uint64_t away_ns =
      looks_.unwatched(now_ns, where_.config->peer_timeout_ms * 1'000'000);
  for (peer* p : peers_.all()) {
    if (p->silent_since_ns != 0) p->silent_since_ns += away_ns;
    p->awaited = false;
    peer* const own = p->heard ? peers_.find(p->number) : nullptr;
    if (own != nullptr) own->heard = true;
  }
  tagged_.matching().receives.each([&](const posted_receive& r) {
    peer* const p = r.source != any_source ? peers_.reach(r.source) : nullptr;
    if (p != nullptr) p->awaited = p->wire.to->listens;
  });
  for (std::size_t i = 0; i < peers_.all().size(); ++i) look_at(*peers_.all()[i], now_ns);
}

/// A peer we wait for and that says nothing is asked for a sign of life, then given up.
void liveness::look_at(peer& p, std::uint64_t now_ns) {
  if (p.lost) return;
  const bool nothing_due = p.requests.empty() && p.counted == 0 && !p.awaited;
  const bool heard = std::exchange(p.heard, false);  // also of a lane that owes nothing now
  if (nothing_due || heard || p.silent_since_ns == 0) {
    p.pinged = false;
    p.silent_since_ns = nothing_due ? 0 : now_ns;
    return;
  }
  const std::uint64_t silent_ms = (now_ns - p.silent_since_ns) / 1'000'000;
  if (silent_ms >= where_.config->peer_timeout_ms)
    return lose(p, fmt::format("it has said nothing for {:.3g} s, although it was asked "
                               "(HEDDLE_PEER_TIMEOUT_MS)",
                               static_cast<double>(silent_ms) / 1000));
  if (silent_ms * 3 < where_.config->peer_timeout_ms || std::exchange(p.pinged, true)) return;
  log::info(log::subsystem::peer,
            "lane {}: rank {} has said nothing for {:.3g} s, and is asked for a sign of life",
            where_.lane, p.number, static_cast<double>(silent_ms) / 1000);
  message m;
  m.kind = message_kind::ping;
  path_.control(p, m);
}

/// Nothing is sent any more, so what the wires have ends here as well.
void liveness::abort(status code) {
  ops_.flushing().cut_off(code);
  for (peer* p : peers_.all()) p->lost = true;
  (void)calls_.hold_back();  // for good
  for (peer* p : peers_.all()) {
    while (request* r = p->requests.front()) {
      take_in_hand(*r);
      r->owner->ended(*r, code);
    }
    tagged_.end_receives(p->number, code);
  }
  tagged_.end_receives(any_source, code);
  ops_.abort(code);
}

}  // namespace heddle::protocols
