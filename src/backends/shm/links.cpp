// SPDX-License-Identifier: BSD-3-Clause
// links.cpp - making, opening and ending links.
#include "backends/shm/links.h"

#include <algorithm>
#include <memory>

#include "backends/shm/ring_file.h"
#include "base/clock.h"

namespace heddle::transport::shm {
namespace {

/// A process that exits closes its files so long before others see that it has ended, or less.
constexpr std::uint64_t longest_exit_ns = 100'000'000;

}  // namespace

link* links::reach(rank peer, int lane) noexcept {
  link* const known = known_.find(peer, lane);
  return known != nullptr || lane < 0 || lane >= max_lanes ? known : make(peer, lane);
}

link* links::make(rank peer, int lane) noexcept {
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
    const std::size_t count = all_.size() + 1;
    for (auto* list : {&all_, &ending_}) list->reserve(count);
    incoming_.reserve(count);
    blocked_.reserve(count);
    link* const made = &known_.insert(peer, lane, std::make_unique<link>(std::move(process), lane));
    all_.push_back(made);
    made->state = state;
    if (made->process->is_gone()) begin_end(*made);
    return made;
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// Opens its process if that is to be done yet. Throws shortage.
void links::meet(link& one) {
  if (one.state != link::state_t::unmet) return;
  one.meet(device_.find_peer(one.peer));
  if (one.process->is_gone()) begin_end(one);
}

status links::open_way(link& to, bool with_ring) noexcept {
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

bool links::accept(const announcements::announcement& announced) noexcept {
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
bool links::give_up(link& of, std::uint64_t since_ns, const shortage& why) noexcept {
  if (now_ns() - since_ns < device_.patience_ns()) return false;
  begin_end(of, why);
  return true;
}

void links::begin_end(link& of) noexcept {
  if (of.is_over()) return;
  of.state = link::state_t::ending;
  ending_.push_back(&of);
}

/// For a reason that is neither its process's end nor what it wrote.
void links::begin_end(link& of, const std::exception& why) noexcept {
  of.note(why.what());
  begin_end(of);
}

void links::end_gone() noexcept {
  for (link* each : all_) {
    if (each->process->known_gone()) begin_end(*each);
  }
}

bool links::some_end_unreported() const noexcept {
  return std::any_of(ending_.begin(), ending_.end(),
                     [](const link* each) { return each->state == link::state_t::ending; });
}

}  // namespace heddle::transport::shm
