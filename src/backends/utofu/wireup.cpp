// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/wireup.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <new>

#include "base/clock.h"

namespace heddle::transport::utofu {
namespace {

constexpr std::uint64_t ask_again_ns = 100'000'000;
constexpr std::uint64_t look_again_ns = 100'000;
/// Who drew a ticket and left nothing for so long has died in between.
constexpr std::uint64_t patience_ns = 200'000'000;
constexpr std::uint32_t least_lines = 4 * max_message_lines;

/// One piggyback put of a grant, which its reader sees complete or not at all.
work_request work_request_for(const grant& g, utofu_stadd_t there) noexcept {
  work_request c;
  c.what = work_request::form::piggyback;
  c.flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
  c.data = &g;
  c.bytes = sizeof g;
  c.there = there;
  return c;
}

}  // namespace

wireup::wireup(utofu_device& device, int lane, work_queue& queue, peers& known, messages& sent)
    : device_(device),
      lane_(lane),
      listener_(device.listener_of(lane)),
      queue_(queue),
      peers_(known),
      messages_(sent),
      inbound_(static_cast<std::uint32_t>(device.chosen().mrq / 8 * 3)) {}

// --- what we grant ---------------------------------------------------------------------

/// Gives the peer a ring for its messages. False: there is no memory now; a peer for which there is
/// none for long is lost.
bool wireup::prepare_ring(peer_state& p) noexcept {
  if (p.in.is_open()) return true;
  if (make_ring(p)) return true;
  const std::uint64_t now = now_ns();
  if (p.no_memory_since_ns == 0) p.no_memory_since_ns = now;
  if (now - p.no_memory_since_ns >= device_.chosen().peer_timeout_ns)
    peers_.lose(p, "this process has no memory, or none that can be registered, for its messages");
  return false;
}

/// Each message may bring a notice, and the hardware's queue of these must never overflow: when no
/// more can be allowed, the peer's messages come without, so that any number of peers finds room.
bool wireup::make_ring(peer_state& p) noexcept {
  const auto wanted =
      std::bit_floor(static_cast<std::uint32_t>(device_.chosen().ring_bytes / line_bytes));
  const std::uint32_t allowed = std::min(wanted, std::bit_floor((inbound_ - granted_) / 2));
  const bool polled = allowed < least_lines;
  const std::uint32_t lines = polled ? wanted : allowed;
  try {
    if (!peers_.prepare_ring(p, lines, polled)) return false;
    if (polled) messages_.add_polled(p);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (!polled) granted_ += lines;
  return true;
}

grant wireup::our_grant(const peer_state& p) const noexcept {
  grant g{device_.self(),
          p.ring_at,
          p.area_at,
          static_cast<std::uint16_t>(p.in.lines()),
          static_cast<std::uint8_t>(p.in.polled() ? 1 : 0),
          static_cast<std::uint8_t>(lane_),
          device_.nonce(),
          p.ticket,
          0};
  g.check = check_sum(g);
  return g;
}

// --- asking ----------------------------------------------------------------------------

/// Not in a list, which may be taken back.
bool wireup::post(peer_state& p, work_request& c, ending what) noexcept {
  try {
    return c.there != no_address && !queue_.window().full() && !queue_.listing() &&
           queue_.submit([&] { return c; }, *p.vcq, queue_of(c.what), pending(p, what)) ==
               status::done;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void wireup::connect(peer_state& p) noexcept {
  if (p.at == stage::unconnected && prepare_ring(p)) draw_ticket(p);
}

void wireup::draw_ticket(peer_state& p) noexcept {
  work_request c;
  c.what = work_request::form::atomic;
  c.atomic = atomic_op::add;
  c.operand = 1;
  c.there = address_of(*p.vcq, tag_listener, offsetof(listener, tickets));
  if (!post(p, c, ending::ticket)) return;
  connecting_.add(p);
  p.at = stage::drawing;
  p.asked_at_ns = now_ns();
}

void wireup::on_ticket(peer_state& p, std::uint64_t number) noexcept {
  if (p.at != stage::drawing) return;
  p.ticket = static_cast<std::uint32_t>(number);
  p.at = stage::waiting;
  number < listener::backlog ? request(p) : ask_for_backlog(p);
}

void wireup::ask_for_backlog(peer_state& p) noexcept {
  work_request c;
  c.what = work_request::form::get;
  c.there = address_of(*p.vcq, tag_listener, offsetof(listener, served));
  c.here = p.area_address + offsetof(peer_area, landing) + served_at;
  c.bytes = sizeof(std::uint64_t);
  p.asked_at_ns = now_ns();
  (void)post(p, c, ending::backlog);  // tried again if not
}

void wireup::on_backlog(peer_state& p) noexcept {
  if (p.at != stage::waiting) return;
  std::uint64_t served = 0;
  std::memcpy(&served, p.area->landing.data() + served_at, sizeof served);
  const auto ahead = static_cast<std::int32_t>(p.ticket - static_cast<std::uint32_t>(served));
  if (ahead < 0) return draw_ticket(p);  // its turn has passed
  if (ahead < static_cast<std::int32_t>(listener::backlog)) request(p);
}

void wireup::request(peer_state& p) noexcept {
  const grant g = our_grant(p);
  const std::size_t slot = p.ticket % listener::backlog;
  work_request c = work_request_for(
      g, address_of(*p.vcq, tag_listener, offsetof(listener, requests) + slot * sizeof g));
  if (!post(p, c, ending::request)) return;
  p.at = stage::requested;
  p.asked_at_ns = now_ns();
}

void wireup::look_for_answers() noexcept {
  const std::uint64_t now = now_ns();
  connecting_.take_all([&](peer_state& p) { move(p, now); });
}

void wireup::move(peer_state& p, std::uint64_t now) noexcept {
  if (p.lost || p.at == stage::connected) return;
  connecting_.add(p);
  grant answer;
  std::memcpy(&answer, &p.area->answer, sizeof answer);
  if (is_granted(p, answer)) return use_grant(p, answer);
  const std::uint64_t waited = now - p.asked_at_ns;
  if (p.at == stage::waiting && waited > look_again_ns) ask_for_backlog(p);
  if (p.at != stage::waiting && waited > ask_again_ns) draw_ticket(p);
}

// --- being asked -----------------------------------------------------------------------

void wireup::read_requests() noexcept {
  const std::uint64_t drawn = listener_.tickets.get();
  for (; next_ticket_ != drawn; ++next_ticket_) {
    grant g;
    std::memcpy(&g, &listener_.requests[next_ticket_ % listener::backlog], sizeof g);
    const bool here =
        g.check == check_sum(g) && g.ticket == static_cast<std::uint32_t>(next_ticket_);
    if (here) {
      admit(g);
    } else {
      const std::uint64_t now = now_ns();
      const std::uint64_t away = looks_.unwatched(now, patience_ns);
      waits_since_ns_ = waits_since_ns_ == 0 ? now : waits_since_ns_ + away;
      if (now - waits_since_ns_ < patience_ns) break;
    }
    waits_since_ns_ = 0;
  }
  listener_.served.set(next_ticket_);
}

void wireup::admit(const grant& g) noexcept {
  peer_state* const p = peers_.find(g.from, g.lane);
  if (p == nullptr || p->vcq == nullptr || p->lost) return;
  if (!is_granted(*p, g) || !prepare_ring(*p)) return;  // it asks again
  use_grant(*p, g);
  send_answer(*p);
}

bool wireup::is_granted(const peer_state& p, const grant& g) noexcept {
  const auto in_slab = [](slab_place at) {
    return tag_of(at) >= tag_first_slab && tag_of(at) <= tag_last_slab;
  };
  return g.check == check_sum(g) && g.from == p.peer && g.lane == p.lane &&
         g.nonce == p.facts->nonce && in_slab(g.ring) && in_slab(g.area) &&
         g.lines >= least_lines && std::has_single_bit(g.lines);
}

void wireup::use_grant(peer_state& p, const grant& g) noexcept {
  if (p.at == stage::connected) return;
  const utofu_stadd_t ring = address_of(*p.vcq, tag_of(g.ring), offset_of(g.ring));
  p.their_area = address_of(*p.vcq, tag_of(g.area), offset_of(g.area));
  if (ring == no_address || p.their_area == no_address) return;
  p.out.open(ring, g.lines, g.polled != 0);
  p.at = stage::connected;
}

void wireup::send_answer(peer_state& p) noexcept {
  if (p.lost || p.at != stage::connected) return;
  const grant g = our_grant(p);
  work_request c = work_request_for(g, p.their_area + offsetof(peer_area, answer));
  if (!post(p, c, ending::answer)) answers_.add(p);
}

}  // namespace heddle::transport::utofu
