// SPDX-License-Identifier: BSD-3-Clause
// endpoint.cpp - opening and closing an endpoint, and making and accepting its links.
#include "backends/shm/endpoint.h"

#include <algorithm>
#include <exception>

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
    std::shared_ptr<peer_process> process = device_.find_peer(peer);
    if (process == nullptr) return nullptr;
    for (auto* list : {&links_, &ending_}) list->reserve(links_.size() + 1);
    incoming_.reserve(links_.size() + 1);
    blocked_.reserve(links_.size() + 1);
    link* const made = &known_.insert(peer, lane, std::make_unique<link>(std::move(process), lane));
    links_.push_back(made);
    if (made->process->is_gone()) begin_end(*made);
    return made;
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// False: it is lost, because there can be no ring to it.
bool shm_endpoint::open_outgoing(link& to) noexcept {
  const ring_name name{device_.self(), lane_, to.peer, to.lane, device_.memory().secret};
  const bool opened = to.open_outgoing(name, device_.ring_bytes());
  if (!opened) begin_end(to);
  return opened;
}

/// False: not now, because the peer is not known yet, or descriptors or memory ran out, or its
/// process is ending. Where that stays so the peer is lost: what it has sent is nowhere to be had.
bool shm_endpoint::accept(const announcements::announcement& announced) noexcept {
  const announced_ring& ring = announced.ring;
  link* const from = reach(ring.from, ring.lane);
  if (from == nullptr) return false;
  if (from->state != link::state_t::open || from->in) return true;
  try {
    from->open_incoming(
        ring.fd, {ring.from, ring.lane, device_.self(), lane_, from->process->memory().secret});
    incoming_.add(*from);
  } catch (const shortage& why) {
    if (now_ns() - announced.since_ns < device_.patience_ns()) return false;
    from->note(why.what());
    begin_end(*from);
  } catch (const std::exception& why) {  // it has ended, or is not what it should be
    if (!from->process->is_gone()) {
      if (now_ns() - announced.since_ns < longest_exit_ns) return false;
      from->note(why.what());
    }
    begin_end(*from);
  }
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
  if (of.state != link::state_t::open) return;
  of.state = link::state_t::ending;
  ending_.push_back(&of);
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
