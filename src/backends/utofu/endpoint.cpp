// endpoint.cpp - opening and closing a lane, its links, peers that go, and sleep.
#include "backends/utofu/endpoint.h"

#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "backends/utofu/batch.h"
#include "backends/utofu/names.h"
#include "backends/utofu/nap.h"
#include "base/clock.h"
#include "base/error.h"

namespace heddle::transport::utofu {
namespace {

constexpr std::size_t sent_bytes = 256 * 1024;
constexpr std::size_t staged_bytes = 512 * 1024;
constexpr std::size_t probes_per_turn = 16;

}  // namespace

utofu_endpoint::utofu_endpoint(utofu_device& owner, int lane)
    : device_(owner),
      lane_(lane),
      vcq_(owner.vcq_of(lane)),
      home_(owner.home_of(lane)),
      stage_bytes_(std::min(owner.chosen().stage_bytes, staged_bytes / 4)),
      window_(owner.chosen().mrq / 2),
      inbound_(static_cast<std::uint32_t>(owner.chosen().mrq / 8 * 3)),
      cache_(owner.cache_of(lane)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      slab_(vcq_),
      last_event_ns_(now_ns()),
      batch_limit_(max_batch),
      batch_(std::make_unique<batch>()) {
  if (!timer_) fail_errno(errno, "no descriptors left (ulimit -n)");
  const auto cut = [this](std::size_t bytes) {
    slab_place at = 0;
    if (!slab_.allocate(bytes, at))
      fail("lane {}: {} bytes of memory for sending cannot be had or registered", lane_, bytes);
    return staging({slab_.at(at), bytes}, slab_.address(at));
  };
  sent_ = cut(sent_bytes);
  staged_ = cut(staged_bytes);
}

utofu_endpoint::~utofu_endpoint() = default;

// --- links -----------------------------------------------------------------------------

link* utofu_endpoint::look_up_link(rank peer) noexcept {
  const auto found = links_.find(peer);
  link* const l = found != links_.end() ? found->second.get() : make_link(peer);
  if (l == nullptr) return nullptr;
  last_rank_ = peer;
  return last_ = l;
}

/// nullptr: the device does not know the peer, or there is no memory for a link.
link* utofu_endpoint::make_link(rank peer) noexcept {
  auto facts = device_.find_peer(peer);
  if (facts == nullptr) return nullptr;
  try {
    auto made = std::make_unique<link>();
    made->peer = std::move(facts);
    const std::vector<place>& lanes = *made->peer->lanes;
    made->streams.resize(lanes.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const auto same_cq = [&](const place& p) {
        return p.tni == lanes[i].tni && p.cq == lanes[i].cq;
      };
      if (std::find_if(lanes.begin(), lanes.end(), same_cq) == lanes.begin() + std::ptrdiff_t(i))
        made->first_lanes.push_back(static_cast<int>(i));
    }
    if (static_cast<std::size_t>(lane_) < lanes.size())
      made->lane = stream_to(*made, static_cast<std::size_t>(lane_));
    for (auto* list : {&connecting_, &taken_, &owing_, &untold_, &quiet_, &known_})
      list->reserve(links_.size() + 1);
    known_.push_back(made.get());
    return links_.emplace(peer, std::move(made)).first->second.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// Operations to the VCQ of one lane of the peer.
stream* utofu_endpoint::stream_to(link& l, std::size_t lane) {
  auto& slot = l.streams[lane];
  if (slot == nullptr) {
    slot = std::make_unique<stream>();
    slot->to = l.peer->vcq_of(lane);
    slot->with = &l;
    streams_.insert(without_path(slot->to), slot.get());
  }
  return slot.get();
}

// --- ends ------------------------------------------------------------------------------

/// The hardware cannot reach the peer any more, or its lane has gone.
void utofu_endpoint::lose(link& l) noexcept {
  if (l.state == link::state_t::lost) return;
  l.state = link::state_t::lost;
  emit(event::kind_t::peer_lost, status::peer_lost, l, 0,
       bytes_of("the Tofu network does not reach it any more: its node, its process or its lane "
                "has gone"));
  end_flights(l);
  settle_doubts(l, l.doubts.size(), status::peer_lost);
  unreturned_ -= l.sent - l.consumed;
  l.consumed = l.sent;
}

/// Nothing is answered by a peer that is gone, so nothing arrives in their memory any more.
void utofu_endpoint::end_flights(link& l) noexcept {
  for (const auto& s : l.streams) {
    if (s == nullptr) continue;
    for (flight_queue& queue : s->under_way) {
      while (!queue.empty()) end_unanswered(l, queue.take_oldest());
    }
  }
  for (auto it = large_.begin(); it != large_.end();) {
    large_transfer& t = *it++;
    if (t.with == &l && t.under_way == 0) end_large(t);
  }
}

/// A command that has not left yet may still fail, and says then which flight it was.
void utofu_endpoint::end_unanswered(link& l, const flight_queue::entry& e) noexcept {
  if (e.is_plain()) return on_end(l, e, UTOFU_ERR_MRQ_PEER, 0);
  settle(*e.tracked(), status::peer_lost, 0);
  flights_.retire(*e.tracked());
}

/// The peer lives, perhaps: what is under way ends when the hardware says so, as peer_lost.
void utofu_endpoint::drop(rank peer) noexcept {
  link* const l = find_link(peer);
  if (l == nullptr || l->state == link::state_t::lost) return;
  l->state = link::state_t::lost;
  settle_doubts(*l, l->doubts.size(), status::peer_lost);
  unreturned_ -= l->sent - l->consumed;
  l->consumed = l->sent;
  for (auto it = large_.begin(); it != large_.end();) {
    large_transfer& t = *it++;
    if (t.with == l && t.under_way == 0) end_large(t);
  }
}

void utofu_endpoint::maintain() noexcept {
  const vcq::use mine(vcq_);
  for (std::size_t i = 0; i < std::min(probes_per_turn, known_.size()); ++i)
    probe(*known_[next_probe_++ % known_.size()]);
}

/// Reads the nonce in the peer's home: the hardware answers for a process that sleeps, and gives an
/// error for one that has ended.
void utofu_endpoint::probe(link& l) noexcept {
  const bool silent = l.stage == link::stage_t::strange && l.targets.empty();
  if (l.state == link::state_t::lost || l.probing || silent || !prepare_line(l)) return;
  stream* const to = l.lane != nullptr ? l.lane : l.streams[0].get();
  if (to == nullptr) return;
  descriptor d;
  d.what = descriptor::form::get;
  if (utofu_query_stadd(without_path(to->to), tag_home, &d.there) != UTOFU_SUCCESS) return;
  d.here = slab_.address(l.line_at) + offsetof(line, fetched) + nonce_at;
  d.bytes = sizeof(std::uint64_t);
  l.probing = post_own(*to, flight::purpose::probe, l, d);
}

// --- sleep -----------------------------------------------------------------------------

bool utofu_endpoint::arm() noexcept {
  const vcq::use mine(vcq_);
  drain_tcq();
  tell_rest();
  const std::uint64_t now = now_ns();
  if (std::exchange(eventful_, false)) last_event_ns_ = now;
  const std::uint64_t silence = now - last_event_ns_;
  set_alarm(timer_.get(), std::clamp(silence / part_of_silence, first_nap_ns, longest_nap_ns));
  return later_.empty();
}

}  // namespace heddle::transport::utofu
