// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/departures.h"

#include <algorithm>
#include <utility>

#include "backends/verbs/parcel.h"
#include "base/log.h"

namespace heddle::transport::verbs {
namespace {

status status_of(ibv_wc_status s) noexcept {
  switch (s) {
    case IBV_WC_SUCCESS:
      return status::done;
    case IBV_WC_REM_ACCESS_ERR:
      return status::withdrawn;
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
      return status::invalid;
    default:
      return status::peer_lost;
  }
}

}  // namespace

departures::departures(const lane_queues& of_lane, connector& by, completions& of, accesses& data,
                       slots& through, peers& known, outbox& events)
    : connector_(by),
      completions_(of),
      accesses_(data),
      slots_(through),
      peers_(known),
      events_(events),
      works_(depth_of(of_lane.on()), of_lane.max_inline()),
      visible_puts_(of_lane.on().chosen().visible_puts),
      landing_(through.take()),
      room_(of_lane.room()) {}

// --- issuing ---------------------------------------------------------------------------

status departures::add_message(peer_lane& p, message_head head, std::span<const std::byte> header,
                               std::span<const std::byte> data, bool follows) noexcept {
  const std::size_t bytes = parcel::bytes_of(sizeof head + header.size() + data.size());
  flight* f = p.out.flights.joinable();
  if (f != nullptr && f->bytes + bytes <= parcel::most_bytes)
    p.out.flights.count_joined();
  else if (f = begin_parcel(p, follows); f == nullptr)
    return status::busy_queue;
  parcel::write(f->here + f->bytes, head, header, data);
  f->bytes += static_cast<std::uint32_t>(bytes);
  return status::done;
}

flight* departures::begin_parcel(peer_lane& p, bool follows) noexcept {
  if (!p.out.flights.has_room() || !p.out.window.has_room()) return nullptr;
  std::byte* const slot = slots_.take();
  if (slot == nullptr) return nullptr;
  p.out.window.count_sent();
  ++parcels_;
  return &p.out.flights.push({.here = slot,
                              .key_here = slots_.key(),
                              .how = ending::sent,
                              .in_slot = true,
                              .follows = follows});
}

/// Issues what the card has room for. The rest goes when some has ended.
void departures::push(peer_lane& p) noexcept {
  stream& s = p.out;
  if (s.state != stream::state_t::ready) return;
  if (visible_puts_ && s.flights.ends_in_puts()) add_look(p);
  if (s.flights.unissued() <= room_) room_ -= works_.post(s, room_);
  if (s.flights.unissued() != 0) unpushed_.add(p);
  if (s.flights.unheard() != 0) unsettled_.add(p);
}

/// A read behind puts. A card answers it when the memory shows them.
void departures::add_look(peer_lane& p) noexcept {
  if (!p.out.flights.has_room()) return;
  p.out.flights.push({.here = landing_,
                      .bytes = sizeof(std::uint64_t),
                      .key_here = slots_.key(),
                      .there = p.process->facts.table,
                      .key = p.process->facts.table_key,
                      .how = ending::look});
}

// --- ends ------------------------------------------------------------------------------

[[gnu::always_inline]] inline void departures::finish_oldest(peer_lane& p) noexcept {
  flight& f = p.out.flights.oldest();  // its cell is good until something is added
  p.out.flights.pop();
  ++room_;
  f.held.release();
  if (f.how >= ending::told) {
    if (f.how != ending::told && !accesses_.finish(p.out, f)) return;
    events_.ended(*f.of, status::done);
  } else if (f.how == ending::sent) {
    --parcels_;
  } else if (f.how == ending::entry) {
    regions::on_entry(*p.process, f.here);
  }
  if (f.in_slot) slots_.give_back(f.here);
}

/// A queue pair ends its requests in order: all up to this one are over, or what failed is the
/// oldest then.
void departures::on_flight(const ibv_wc& c) noexcept {
  const work_id id(c.wr_id);
  peer_lane* const p = peers_.at(id.number());
  if (p == nullptr || !p->out.name.is_beside(id) || !p->out.flights.holds(id.position())) return;
  // What failed is still the oldest, and forget() ends it with all behind it: it is not over
  // because what came after it has been flushed.
  if (p->lost) return;
  const bool is_over = c.status == IBV_WC_SUCCESS;
  const std::uint32_t under_way = id.position() + (is_over ? 1 : 0);
  while (p->out.flights.head() != under_way) finish_oldest(*p);
  if (!is_over) return fail_oldest(*p, c.status);
  if (p->out.flights.unissued() != 0) push_soon(*p);
}

/// The queue pair has ended with it. What is behind it has not been carried out.
void departures::fail_oldest(peer_lane& p, ibv_wc_status why) noexcept {
  const status how = status_of(why);
  const ending what = p.out.flights.oldest().how;
  const bool one_ops = what >= ending::told;
  if (how == status::peer_lost || !one_ops)
    return peers_.lose(p, how == status::peer_lost ? silent : ibv_wc_status_str(why));
  if (how == status::withdrawn) regions::distrust(*p.process);
  end_queue_pair(p.out);
  discard_oldest(p, how);
  if (!p.out.flights.empty() && p.out.flights.oldest().follows) discard_oldest(p, how);
  log::debug(log::subsystem::wire, "verbs: rank {}, lane {}: {}; a new queue pair is connected",
             p.peer, p.lane, ibv_wc_status_str(why));
  connector_.connect(p);
}

/// The card touches nothing for it any more, and what is kept could be issued again. A card may
/// forget what came over a queue pair when that ends, so that is taken out first.
void departures::end_queue_pair(stream& s) noexcept {
  if (s.qp != nullptr) {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_ERR;
    (void)ibv_modify_qp(s.qp.get(), &a, IBV_QP_STATE);
    completions_.set_aside();
  }
  room_ += s.flights.under_way();
  s.rewind();
}

void departures::discard_oldest(peer_lane& p, status how) noexcept {
  flight f = std::move(p.out.flights.oldest());
  p.out.flights.pop();
  if (f.how == ending::sent) --parcels_;
  if (f.how == ending::entry) regions::on_entry(*p.process, nullptr);
  if (f.of != nullptr) events_.ended(*f.of, how);
  if (f.in_slot) slots_.give_back(f.here);
}

void departures::forget(peer_lane& p) noexcept {
  connector_.give_up(p.out);
  end_queue_pair(p.out);
  while (!p.out.flights.empty()) discard_oldest(p, status::peer_lost);
}

// --- what nothing tells of -------------------------------------------------------------

void departures::settle() noexcept {
  unsettled_.take_all([this](peer_lane& p) {
    if (p.out.flights.unheard() != 0) add_mark(p);
  });
}

void departures::add_mark(peer_lane& p) noexcept {
  if (p.lost || p.out.state != stream::state_t::ready) return;
  if (p.out.flights.has_room()) (void)p.out.flights.push();
  push(p);
}

void departures::probe_some() noexcept {
  const auto& all = peers_.all();
  for (std::size_t n = 0; n < std::min(probes_per_turn, all.size()); ++n) {
    peer_lane& p = *all[next_probe_++ % all.size()];
    if (p.out.flights.under_way() == 0) add_mark(p);
  }
}

}  // namespace heddle::transport::verbs
