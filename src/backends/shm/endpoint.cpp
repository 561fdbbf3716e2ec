// SPDX-License-Identifier: BSD-3-Clause
// endpoint.cpp - opening and closing an endpoint, and making and accepting its links.
#include "backends/shm/endpoint.h"

#include <algorithm>

#include "backends/shm/ring_file.h"
#include "base/clock.h"

namespace heddle::transport::shm {
namespace {

/// A process that exits closes its files so long before others see that it has ended, or less.
constexpr std::uint64_t longest_exit_ns = 100'000'000;

}  // namespace

shm_endpoint::shm_endpoint(shm_device& owner, int lane)
    : device_(owner),
      lane_(lane),
      max_message_(owner.describe().max_message),
      mine_(owner.memory().lanes[static_cast<std::size_t>(lane)]),
      sleep_(mine_),
      announced_(mine_.rings) {
  device_.enlist(lane, sleep_);
  sleep_.show_bell();
}

shm_endpoint::~shm_endpoint() {
  device_.discharge(sleep_);
  sleep_.hide_bell();
  mine_.core.set(0);
}

link* shm_endpoint::reach(rank peer, int lane) noexcept {
  link* const known = known_.find(peer, lane);
  return known != nullptr || lane < 0 || lane >= max_lanes ? known : make_link(peer, lane);
}

link* shm_endpoint::make_link(rank peer, int lane) noexcept {
  try {
    auto state = link::state_t::open;
    std::shared_ptr<peer_process> process;
    try {
      process = device_.find_peer(peer);
    } catch (const shortage&) {
      process = device_.stand_in(peer);
      state = link::state_t::unmet;
    }
    if (process == nullptr) return nullptr;
    for (auto* list : {&links_, &ending_}) list->reserve(links_.size() + 1);
    incoming_.reserve(links_.size() + 1);
    blocked_.reserve(links_.size() + 1);
    link* const made = &known_.insert(peer, lane, std::make_unique<link>(std::move(process), lane));
    links_.push_back(made);
    made->state = state;
    if (made->process->is_gone()) begin_end(*made);
    return made;
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// Opens its process if that is to be done yet. Throws shortage.
void shm_endpoint::meet(link& one) {
  if (one.state != link::state_t::unmet) return;
  one.meet(device_.find_peer(one.peer));
  if (one.process->is_gone()) begin_end(one);
}

/// Before a post, which otherwise is answered so: its process, and for a message the ring to it,
/// are opened if they are not. busy_queue: descriptors or memory lack. peer_lost: there is no way
/// to it.
status shm_endpoint::open_way(link& to, bool with_ring) noexcept {
  try {
    meet(to);
    if (to.is_over()) return status::peer_lost;
    const ring_name name{device_.self(), lane_, to.peer, to.lane, device_.memory().secret};
    if (with_ring) to.open_outgoing(name, device_.ring_bytes());
    to.short_since_ns = 0;
    return status::done;
  } catch (const shortage& why) {
    short_ = true;
    if (to.short_since_ns == 0) to.short_since_ns = now_ns();
    return give_up(to, to.short_since_ns, why) ? status::peer_lost : status::busy_queue;
  } catch (const std::exception& why) {  // also bad_alloc
    begin_end(to, why);
    return status::peer_lost;
  }
}

/// False: not now, because the peer is not known yet, or descriptors or memory ran out, or its
/// process is ending. Where that stays so the peer is lost: what it has sent is nowhere to be had.
bool shm_endpoint::accept(const announcements::announcement& announced) noexcept {
  const announced_ring& ring = announced.ring;
  link* const from = reach(ring.from, ring.lane);
  if (from == nullptr) return false;
  if (from->is_over() || from->in) return true;
  try {
    meet(*from);
    if (from->is_over()) return true;
    from->open_incoming(
        ring.fd, {ring.from, ring.lane, device_.self(), lane_, from->process->memory().secret});
    incoming_.add(*from);
  } catch (const shortage& why) {
    return give_up(*from, announced.since_ns, why);
  } catch (const std::exception& why) {  // it has ended, or is not what it should be
    if (from->process->is_gone())
      begin_end(*from);
    else if (now_ns() - announced.since_ns < longest_exit_ns)
      return false;
    else
      begin_end(*from, why);
  }
  return true;
}

/// True: what lacks has lacked for so long that the peer is lost.
bool shm_endpoint::give_up(link& of, std::uint64_t since_ns, const shortage& why) noexcept {
  if (now_ns() - since_ns < device_.patience_ns()) return false;
  begin_end(of, why);
  return true;
}

void shm_endpoint::maintain() noexcept {
  look_around();
  for (link* each : links_) each->trim();
}

void shm_endpoint::drop(remote_lane& of) noexcept {
  link& lost = static_cast<link&>(of);
  begin_end(lost);
  forget(lost);
}

bool shm_endpoint::idle() const noexcept {
  return std::all_of(links_.begin(), links_.end(),
                     [](const link* each) { return each->settled(); });
}

/// From now on posts answer peer_lost. The event follows what the peer has sent.
void shm_endpoint::begin_end(link& of) noexcept {
  if (of.is_over()) return;
  of.state = link::state_t::ending;
  ending_.push_back(&of);
}

/// For a reason that is neither its process's end nor what it wrote.
void shm_endpoint::begin_end(link& of, const std::exception& why) noexcept {
  of.note(why.what());
  begin_end(of);
}

/// Takes nothing more from it. The rings stay mapped until the next poll: their messages are out.
void shm_endpoint::forget(link& lost) noexcept {
  lost.state = link::state_t::lost;
  incoming_.remove(lost);
  sleep_.unwatch(*lost.process);
}

/// Lost links in the list were reported (or dropped) before this poll, so their messages are over.
std::size_t shm_endpoint::report_ends(std::span<event> out) noexcept {
  std::size_t count = 0;
  std::erase_if(ending_, [&](link* each) {
    if (each->state == link::state_t::lost) {
      blocked_.remove(*each);
      each->close_rings();
      return true;
    }
    if (each->in && !each->corrupt && each->in->has_work()) return false;
    if (count == out.size()) return false;
    out[count++] = {event::kind_t::peer_lost, status::peer_lost, each, nullptr,
                    bytes_of(each->why())};
    if (each->process->known_gone()) device_.bury(each->peer);
    forget(*each);
    return false;
  });
  return count;
}

}  // namespace heddle::transport::shm
