// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/stripes.h"

#include <algorithm>

#include "base/clock.h"

namespace heddle::protocols {
namespace {

/// Enough of them that rails which differ are through at the same time, and each long beside what
/// it costs to start one.
constexpr std::uint64_t stripes_wanted = 8;
constexpr std::uint64_t most_stripe = 1024 * 1024;

/// The next one, at most.
std::uint64_t stripe_of(const request& whole) noexcept {
  const peer& p = *whole.with;
  const std::uint64_t least = std::min(p.several->least_bytes / 2 + 1, most_stripe);
  const std::uint64_t even = whole.local.size() / stripes_wanted;
  const std::uint64_t bytes =
      std::min<std::uint64_t>(std::clamp(even, least, most_stripe), p.max_op);
  return std::min(bytes, whole.local.size() - whole.issued);
}

}  // namespace

status stripes::carry(request& whole) {
  strategy& plan = *whole.with->several->plan;
  strategy::rail_set full = 0;
  while (whole.failure == status::done && whole.issued < whole.local.size()) {
    const strategy::share next = plan.choose(stripe_of(whole), full);
    if (next.bytes == 0) break;
    const status s = issue(whole, next);
    if (s == status::busy_queue)
      full |= strategy::rail_set{1} << next.rail;
    else if (s != status::posted && s != status::done)
      whole.failure = s;
  }
  return stand(whole);
}

/// The next stripe of it.
status stripes::issue(request& whole, strategy::share next) {
  const auto [rail, bytes] = next;
  several_rails& ways = *whole.with->several;
  request& stripe = cut(whole, bytes);
  stripe.rail = static_cast<std::uint8_t>(rail);
  whole.issued += bytes;
  ways.plan->begun(rail, bytes);
  ++ways.under_way;
  const status s = start(stripe);
  if (s == status::posted || s == status::done) counters_.stripes.add();
  if (s == status::posted) return s;
  note_end(stripe, s);
  ops_.release(stripe);
  if (s == status::done)
    whole.moved += bytes;
  else
    whole.issued -= bytes;
  return s;
}

request& stripes::cut(const request& whole, std::uint64_t bytes) {
  command c;
  c.kind = whole.what;
  c.peer = whole.number;
  request& stripe = ops_.begin(whole.with, c, *this);
  stripe.kind = whole.kind;
  stripe.region = whole.region;
  stripe.place = whole.place;
  stripe.local = whole.local.subspan(whole.issued, bytes);
  stripe.base = whole.base + whole.issued;
  stripe.part_of = whole.id();
  stripe.since_ns = now_ns();
  return stripe;
}

/// After some were issued, or could not be: where the whole stands.
status stripes::stand(request& whole) {
  several_rails& ways = *whole.with->several;
  if (whole.issued != whole.moved) {
    whole.at = stage::striped;
    return status::posted;
  }
  if (whole.failure != status::done || whole.moved == whole.local.size()) return whole.failure;
  if (ways.under_way == 0) return status::busy_queue;
  ways.waiting.add(whole);
  whole.at = stage::turn;
  return status::posted;
}

status stripes::start(request& stripe) {
  if (stripe.by == carrier::messages) return fragments_.start(stripe);
  return fragments_.start_on_wire(stripe);
}

void stripes::note_end(const request& stripe, status code) noexcept {
  several_rails& ways = *stripe.with->several;
  const std::uint64_t bytes = stripe.local.size();
  --ways.under_way;
  if (code == status::done && stripe.by != carrier::messages)
    ways.plan->ended(stripe.rail, bytes, stripe.since_ns, now_ns());
  else
    ways.plan->taken_back(stripe.rail, bytes);
}

/// Of a peer that is lost, those that wait are ended by whoever ends the others.
void stripes::ended(request& stripe, status code) {
  peer& p = *stripe.with;
  note_end(stripe, code);
  request* const whole = ops_.pool().find(stripe.part_of, p);
  if (whole != nullptr) {
    whole->moved += stripe.local.size();
    if (whole->failure == status::done) whole->failure = code;
  }
  ops_.release(stripe);
  if (whole != nullptr && whole->at == stage::striped) go_on(*whole);
  request_queue& waiting = p.several->waiting;
  while (!p.lost && !waiting.empty()) {
    request& next = waiting.take_first();
    go_on(next);
    if (next.at == stage::turn) return;  // there is no room for it
  }
}

void stripes::go_on(request& whole) {
  take_in_hand(whole);
  const status s = carry(whole);
  if (s == status::busy_queue) return path_.enqueue(whole);
  if (s != status::posted) whole.owner->ended(whole, s);
}

bool give_up_rail(peer& p, const transport::remote_lane& to) noexcept {
  if (p.several == nullptr) return false;
  const auto known = std::ranges::find(p.several->rails, &to, &rail::to);
  if (known == p.several->rails.begin() || known == p.several->rails.end()) return false;
  *known = {};
  p.several->plan->close(static_cast<std::size_t>(known - p.several->rails.begin()));
  return true;
}

}  // namespace heddle::protocols
