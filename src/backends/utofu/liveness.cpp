// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/liveness.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace heddle::transport::utofu {
namespace {

constexpr std::size_t probes_per_turn = 16;

}  // namespace

void liveness::probe_some() noexcept {
  const auto& all = peers_.all();
  for (std::size_t i = 0; i < std::min(probes_per_turn, all.size()); ++i)
    probe(*all[next_++ % all.size()]);
}

/// Reads the nonce in the peer's listener: the hardware answers for a process that sleeps, and
/// gives an error for one that has ended.
void liveness::probe(peer_state& p) noexcept {
  const bool untouched = p.at == stage::unconnected && p.regions.empty();
  if (p.lost || p.probing || untouched || !peers_.prepare_area(p)) return;
  remote_vcq* const to = peers::any_vcq_of(p);
  // What fills the window may be what a peer that is gone will never take.
  if (to == nullptr || (queue_.window().full() && under_way_ >= queue_.window().spare())) return;
  work_request c;
  c.what = work_request::form::get;
  c.there = address_of(*to, tag_listener, offsetof(listener, nonce));
  c.here = p.area_address + offsetof(peer_area, landing) + nonce_at;
  c.bytes = sizeof(std::uint64_t);
  try {
    p.probing = c.there != no_address && queue_.submit([&] { return c; }, *to, queue_name::gets,
                                                       pending(p, ending::probe)) == status::done;
  } catch (const std::bad_alloc&) {
    return;  // it is asked again
  }
  if (p.probing) ++under_way_;
}

void liveness::probe_ended(peer_state& p) noexcept {
  p.probing = false;
  --under_way_;
}

void liveness::on_probe(peer_state& p) noexcept {
  std::uint64_t nonce = 0;
  std::memcpy(&nonce, p.area->landing.data() + nonce_at, sizeof nonce);
  if (nonce != p.facts->nonce) return peers_.lose(p);  // another process has its queue now
  settle(p, p.doubts_asked, status::withdrawn);
  ask(p);
}

void liveness::ended(peer_state& p, op& of, status how) noexcept {
  if (how != status::withdrawn) return events_.ended(of, how);
  p.doubts.push_back(&of);
  ask(p);
}

void liveness::ask(peer_state& p) noexcept {
  if (p.doubts.empty() || p.probing) return;
  probe(p);
  if (p.probing)
    p.doubts_asked = p.doubts.size();
  else
    in_doubt_.add(p);
}

/// `count` of the oldest.
void liveness::settle(peer_state& p, std::size_t count, status how) noexcept {
  for (std::size_t i = 0; i < count; ++i) events_.ended(*p.doubts[i], how);
  p.doubts.erase(p.doubts.begin(), p.doubts.begin() + static_cast<std::ptrdiff_t>(count));
  p.doubts_asked = 0;
}

}  // namespace heddle::transport::utofu
