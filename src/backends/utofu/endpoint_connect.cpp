// endpoint_connect.cpp - how two lanes meet: one draws a ticket at the other's door, leaves there
// what it grants, and finds the other's grant in its line. Either grant alone lets its receiver
// send; a request that got lost is made again, which changes nothing if it was not lost.
#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/utofu/endpoint.h"
#include "backends/utofu/names.h"
#include "base/clock.h"

namespace heddle::transport::utofu {
namespace {

constexpr std::uint64_t ask_again_ns = 100'000'000;
constexpr std::uint64_t look_again_ns = 100'000;
/// Who drew a ticket and left nothing for so long has died in between.
constexpr std::uint64_t patience_at_door_ns = 200'000'000;
constexpr std::uint32_t least_slots = 4 * max_message_lines;

}  // namespace

// --- our grant -------------------------------------------------------------------------

/// Where the peer leaves answers, and where what we fetch of it arrives.
bool utofu_endpoint::prepare_line(link& l) noexcept {
  if (l.mine != nullptr) return true;
  if (!slab_.allocate(sizeof(line), l.line_at)) return false;
  l.mine = reinterpret_cast<line*>(slab_.at(l.line_at));
  return true;
}

/// A ring for the peer's messages. Each may bring a notice, and the hardware's queue of these must
/// never overflow: when no more can be allowed, the peer's messages come without, so that any
/// number of peers finds room.
bool utofu_endpoint::prepare_ring(link& l) noexcept {
  if (l.ring != nullptr) return true;
  const auto wanted =
      std::bit_floor(static_cast<std::uint32_t>(device_.chosen().ring_bytes / line_bytes));
  const std::uint32_t allowed = std::min(wanted, std::bit_floor((inbound_ - granted_) / 2));
  const bool quiet = allowed < least_slots;
  const std::uint32_t slots = quiet ? wanted : allowed;
  if (!prepare_line(l) || !slab_.allocate(std::size_t{slots} * line_bytes, l.ring_at)) return false;
  if (quiet)
    quiet_.push_back(&l);
  else
    granted_ += slots;
  l.quiet = quiet;
  l.ring_slots = slots;
  l.ring = slab_.at(l.ring_at);
  return true;
}

grant utofu_endpoint::our_grant(const link& l) const noexcept {
  grant g{device_.self(),
          l.ring_at,
          l.line_at,
          static_cast<std::uint16_t>(l.ring_slots),
          static_cast<std::uint16_t>(l.quiet ? 1 : 0),
          device_.nonce(),
          l.ticket,
          0};
  g.check = check_sum(g);
  return g;
}

// --- asking ----------------------------------------------------------------------------

void utofu_endpoint::connect(link& l) noexcept {
  if (l.stage != link::stage_t::strange || !prepare_ring(l)) return;
  draw_ticket(l);
}

void utofu_endpoint::draw_ticket(link& l) noexcept {
  descriptor d;
  d.what = descriptor::form::atomic;
  d.atomic = atomic_op::add;
  d.operand = 1;
  if (utofu_query_stadd(without_path(l.lane->to), tag_home, &d.there) != UTOFU_SUCCESS) return;
  d.there += offsetof(home, tickets);
  if (!post_own(*l.lane, flight::purpose::ticket, l, d)) return;
  if (l.stage == link::stage_t::strange) connecting_.push_back(&l);
  l.stage = link::stage_t::queuing;
  l.asked_at_ns = now_ns();
  chores_ = true;
}

void utofu_endpoint::on_ticket(link& l, std::uint64_t number) noexcept {
  if (l.stage != link::stage_t::queuing) return;
  l.ticket = static_cast<std::uint32_t>(number);
  l.stage = link::stage_t::at_door;
  if (number < home::places) return ask(l);
  ask_for_places(l);
}

void utofu_endpoint::ask_for_places(link& l) noexcept {
  descriptor d;
  d.what = descriptor::form::get;
  if (utofu_query_stadd(without_path(l.lane->to), tag_home, &d.there) != UTOFU_SUCCESS) return;
  d.there += offsetof(home, served);
  d.here = slab_.address(l.line_at) + offsetof(line, fetched) + served_at;
  d.bytes = sizeof(std::uint64_t);
  l.asked_at_ns = now_ns();
  (void)post_own(*l.lane, flight::purpose::places, l, d);  // tried again if not
}

void utofu_endpoint::on_places(link& l) noexcept {
  if (l.stage != link::stage_t::at_door) return;
  std::uint64_t served = 0;
  std::memcpy(&served, l.mine->fetched.data() + served_at, sizeof served);
  if (l.ticket - static_cast<std::uint32_t>(served) < home::places) ask(l);
}

void utofu_endpoint::ask(link& l) noexcept {
  const grant g = our_grant(l);
  descriptor d;
  d.what = descriptor::form::piggyback;
  d.flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
  d.data = &g;
  d.bytes = sizeof g;
  if (utofu_query_stadd(without_path(l.lane->to), tag_home, &d.there) != UTOFU_SUCCESS) return;
  d.there += offsetof(home, door) + l.ticket % home::places * sizeof(grant);
  if (!post_own(*l.lane, flight::purpose::request, l, d)) return;
  l.stage = link::stage_t::asked;
  l.asked_at_ns = now_ns();
}

/// Looks for answers, and does again what was in vain.
void utofu_endpoint::move_connections() noexcept {
  const std::uint64_t now = now_ns();
  std::erase_if(connecting_, [&](link* each) {
    link& l = *each;
    if (l.state == link::state_t::lost || l.stage == link::stage_t::connected) return true;
    grant answer;
    std::memcpy(&answer, &l.mine->answer, sizeof answer);
    if (is_granted(l, answer)) {
      use_grant(l, answer);
      return true;
    }
    const std::uint64_t waited = now - l.asked_at_ns;
    if (l.stage == link::stage_t::at_door && waited > look_again_ns) ask_for_places(l);
    if (l.stage != link::stage_t::at_door && waited > ask_again_ns) draw_ticket(l);
    return false;
  });
}

// --- being asked -----------------------------------------------------------------------

void utofu_endpoint::read_door() noexcept {
  const std::uint64_t drawn = home_.tickets.get();
  for (; door_next_ != drawn; ++door_next_) {
    grant g;
    std::memcpy(&g, &home_.door[door_next_ % home::places], sizeof g);
    const bool here = g.check == check_sum(g) && g.ticket == static_cast<std::uint32_t>(door_next_);
    if (here) {
      admit(g);
    } else {
      const std::uint64_t now = now_ns();
      if (door_waits_since_ns_ == 0) door_waits_since_ns_ = now;
      if (now - door_waits_since_ns_ < patience_at_door_ns) break;
    }
    door_waits_since_ns_ = 0;
  }
  home_.served.set(door_next_);
}

void utofu_endpoint::admit(const grant& g) noexcept {
  link* const l = find_link(g.from);
  if (l == nullptr || l->lane == nullptr || l->state == link::state_t::lost) return;
  if (!is_granted(*l, g) || !prepare_ring(*l)) return;  // it asks again
  use_grant(*l, g);
  send_answer(*l);
}

bool utofu_endpoint::is_granted(const link& l, const grant& g) const noexcept {
  const auto in_slab = [](slab_place p) {
    return tag_of(p) >= tag_first_slab && tag_of(p) <= tag_last_slab;
  };
  return g.check == check_sum(g) && g.from == l.number() && g.nonce == l.peer->nonce &&
         in_slab(g.ring) && in_slab(g.line) && g.slots >= least_slots &&
         std::has_single_bit(g.slots);
}

void utofu_endpoint::use_grant(link& l, const grant& g) noexcept {
  if (l.stage == link::stage_t::connected) return;
  const utofu_vcq_id_t id = without_path(l.lane->to);
  if (utofu_query_stadd(id, tag_of(g.ring), &l.their_ring) != UTOFU_SUCCESS ||
      utofu_query_stadd(id, tag_of(g.line), &l.their_line) != UTOFU_SUCCESS)
    return;
  l.their_ring += offset_of(g.ring);
  l.their_line += offset_of(g.line);
  l.their_slots = g.slots;
  l.quietly = g.quiet != 0;
  l.stage = link::stage_t::connected;
}

void utofu_endpoint::send_answer(link& l) noexcept {
  const grant g = our_grant(l);
  descriptor d;
  d.what = descriptor::form::piggyback;
  d.flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
  d.data = &g;
  d.bytes = sizeof g;
  d.there = l.their_line + offsetof(line, answer);
  l.answers =
      l.stage == link::stage_t::connected && !post_own(*l.lane, flight::purpose::answer, l, d);
  if (!l.answers) return;
  owing_.push_back(&l);
  chores_ = true;
}

}  // namespace heddle::transport::utofu
