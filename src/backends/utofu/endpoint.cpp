// SPDX-License-Identifier: BSD-3-Clause
// endpoint.cpp - posting, polling, and peers that go.
#include "backends/utofu/endpoint.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"

namespace heddle::transport::utofu {
namespace {

constexpr std::size_t sent_bytes = 256 * 1024;
constexpr std::size_t slot_bytes = 512 * 1024;
constexpr std::size_t large_slots = 4;
/// While no message is on its way out, only errors of operations that never left are in the TCQ.
constexpr unsigned polls_per_drain = 32;

/// Memory of the lane, for its work requests.
registered_memory cut(slab& from, int lane, std::size_t bytes) {
  slab_place at = 0;
  if (!from.allocate(bytes, at))
    fail("lane {}: {} bytes of memory for sending cannot be had or registered", lane, bytes);
  return {{from.at(at), bytes}, from.address(at)};
}

/// Slots for what is copied; at least four.
std::size_t size_of_slot(std::uint64_t stage_bytes) {
  return std::min<std::size_t>((stage_bytes + 63) / 64 * 64, slot_bytes / 4);
}

}  // namespace

utofu_endpoint::utofu_endpoint(utofu_device& owner, int lane)
    : lane_(lane),
      vcq_(owner.vcq_of(lane)),
      timer_(make_timer()),
      slab_(vcq_),
      queue_(vcq_, owner.chosen().mrq / 2),
      peers_(owner, slab_),
      credits_(queue_, peers_),
      messages_(queue_, peers_, credits_, events_, owner.exposed(), cut(slab_, lane, sent_bytes),
                owner.nonce()),
      wireup_(owner, lane, queue_, peers_, messages_),
      regions_(owner, lane, queue_, peers_),
      liveness_(queue_, peers_, events_),
      large_(queue_, slot_pool(cut(slab_, lane, large_slots * slot_piece), slot_piece)),
      accesses_(queue_, regions_, owner.cache_of(lane),
                slot_pool(cut(slab_, lane, slot_bytes), size_of_slot(owner.chosen().stage_bytes)),
                large_, messages_, owner.chosen().stage_bytes),
      nap_(now_ns()) {
  if (!timer_) fail_errno(errno, "no descriptors left (ulimit -n)");
}

// --- posting ---------------------------------------------------------------------------

/// done: it is over. posted: it is under way. Otherwise nothing has happened.
inline status utofu_endpoint::start(op& o) noexcept {
  auto& p = static_cast<peer_state&>(*o.to);
  if (p.lost) [[unlikely]]
    return status::peer_lost;
  if (queue_.window().full() && !credits_.read_all()) [[unlikely]]
    return status::busy_queue;
  if (o.kind != op_kind::send) [[likely]]
    return accesses_.start(p, o);
  return start_message(p, o);
}

status utofu_endpoint::start_message(peer_state& p, op& o) noexcept {
  if (!p.listens) return status::unsupported;
  if (!p.out.is_open()) {
    wireup_.connect(p);
    return status::busy_queue;
  }
  const status s = queue_.listing() ? messages_.send_in_list(p, o)
                                    : messages_.send(p, {o.head, o.header, o.memory});
  o.over = s == status::done;
  return s;
}

status utofu_endpoint::send(remote_lane& to, message_head head, std::span<const std::byte> header,
                            std::span<const std::byte> data) noexcept {
  const vcq::use mine(vcq_);
  auto& p = static_cast<peer_state&>(to);
  if (p.lost || !p.out.is_open() || queue_.window().full()) [[unlikely]]
    return status::busy_queue;  // post() may tell more
  const status s = messages_.send(p, {head, header, data});
  return s == status::done ? s : status::busy_queue;
}

/// A copy of its own, off the path of those that are posted alone.
status utofu_endpoint::start_one_of_several(op& o) noexcept {
  return start(o);
}

/// How op_lists posts.
struct utofu_endpoint::way_of_lists {
  utofu_endpoint& lane;

  [[nodiscard]] status start(op& o) const noexcept { return lane.start_one_of_several(o); }
  /// What is not to share a list: its errors must name it, or it takes more than one work request.
  [[nodiscard]] bool goes_alone(const op& o) const noexcept {
    if (o.kind != op_kind::send) return lane.accesses_.goes_alone(o);
    return static_cast<const peer_state&>(*o.to).out.polled();
  }
  void open_list() const noexcept { lane.queue_.open_list(); }
  [[nodiscard]] status close_list() const noexcept {
    const status posted = lane.queue_.close_list();
    if (posted == status::done) lane.messages_.after_list();
    return posted;
  }
  void take_back(op& o) const noexcept {
    if (o.kind != op_kind::send) return lane.accesses_.take_back(o);
    o.over = false;
    lane.messages_.take_back(static_cast<peer_state&>(*o.to), o.notes<messages::note>());
  }
};

status utofu_endpoint::post(op& what) noexcept {
  const vcq::use mine(vcq_);
  const status s = start(what);
  if (peers_.some_lost()) [[unlikely]]
    forget_lost();
  return s;
}

post_result utofu_endpoint::post(std::span<op* const> ops) noexcept {
  const vcq::use mine(vcq_);
  const post_result r = lists_.post(ops, way_of_lists{*this});
  if (peers_.some_lost()) [[unlikely]]
    forget_lost();
  return r;
}

// --- polling ---------------------------------------------------------------------------

std::size_t utofu_endpoint::poll(std::span<event> out) noexcept {
  const vcq::use mine(vcq_);
  events_.open(out);
  do_chores();
  utofu_mrq_notice notice;
  while (!events_.full()) {
    const int code = utofu_poll_mrq(vcq_.handle(), 0, &notice);
    if (code != UTOFU_SUCCESS) {
      if (code == UTOFU_ERR_NOT_FOUND || code == UTOFU_ERR_BUSY) break;
      if (code == UTOFU_ERR_FATAL) {
        on_dead_queue();
        break;
      }
    }
    // Nothing of ours is to come. Who tells nothing has looked at all, since the lane may be armed
    // behind it.
    const bool ended = on_notice(code, notice);
    if (ended && queue_.window().empty() && events_.has_some()) break;
  }
  if (peers_.some_lost()) [[unlikely]]
    forget_lost();
  const std::size_t count = events_.close();
  nap_.saw(count != 0);
  return count;
}

inline void utofu_endpoint::do_chores() noexcept {
  credits_.release();
  if (++polls_ % polls_per_drain == 0) {
    queue_.drain();
    credits_.tell_all();
    messages_.ask_for_departure();
    take_failures();
  } else if (!messages_.idle()) {
    queue_.drain();
  }
  wireup_.move();
  liveness_.ask_again();
  large_.move();
  messages_.look();
}

/// Of work requests that never left.
void utofu_endpoint::take_failures() noexcept {
  work_queue::failure f;
  while (queue_.next_failure(f)) {
    remote_vcq* const to = peers_.vcqs().at(f.index);
    if (to == nullptr) continue;
    if (const pending what = queue_.end(*to, f)) on_end(what, f.code, 0);
  }
  if (queue_.dead()) on_dead_queue();
}

/// True: an operation of the lane has ended.
inline bool utofu_endpoint::on_notice(int code, const utofu_mrq_notice& n) noexcept {
  remote_vcq* const from = peers_.vcqs().find(n.vcq_id);
  if (from == nullptr) [[unlikely]]
    return false;  // nobody we have had to do with
  queue_name queue = queue_name::puts;
  switch (n.notice_type) {
    case UTOFU_MRQ_TYPE_RMT_PUT:
      if (code == UTOFU_SUCCESS && (n.edata & edata_message) != 0 && from->messages != nullptr)
        messages_.on_arrived(*from->messages, (n.edata & edata_wrapped) != 0);
      return false;
    case UTOFU_MRQ_TYPE_LCL_PUT:
      if ((n.edata & edata_message) == 0) break;
      if (code != UTOFU_SUCCESS && from->messages != nullptr)
        peers_.lose(*from->messages);  // a message that did not arrive
      return false;
    case UTOFU_MRQ_TYPE_LCL_GET:
      queue = queue_name::gets;
      break;
    case UTOFU_MRQ_TYPE_LCL_ARMW:
      queue = queue_name::atomics;
      break;
    default:
      return false;
  }
  const pending what = queue_.end(*from, queue, n.edata);
  if (!what) [[unlikely]]
    return false;
  on_end(what, code, n.rmt_value);
  return true;
}

// --- ends ------------------------------------------------------------------------------

inline void utofu_endpoint::on_end(const pending& what, int code, std::uint64_t value) noexcept {
  if (code != UTOFU_SUCCESS || what.how() >= ending::piece) [[unlikely]]
    return on_other_end(what, code, value);
  accesses_.finish(what, true, value);
  events_.ended(what.operation(), status::done);
}

/// Of what failed, of pieces, and of the lane's own operations.
void utofu_endpoint::on_other_end(const pending& what, int code, std::uint64_t value) noexcept {
  peer_state& p = what.is_op() ? static_cast<peer_state&>(*what.operation().to) : what.peer();
  const status how = code != UTOFU_SUCCESS && p.lost ? status::peer_lost : status_of(code);
  status end = how;
  if (how == status::withdrawn) peer_regions::distrust(p);
  if (!what.is_op()) {
    on_own_end(p, what.how(), how, value);
  } else if (what.how() != ending::piece) {
    accesses_.finish(what, false, 0);
    liveness_.ended(p, what.operation(), how);
  } else if (large_.piece_ended(what.operation(), end)) {
    liveness_.ended(p, what.operation(), end);
  }
  if (how == status::peer_lost) peers_.lose(p);
}

void utofu_endpoint::on_own_end(peer_state& p, ending what, status how,
                                std::uint64_t value) noexcept {
  if (what == ending::probe) liveness_.probe_ended(p);
  if (p.lost) return;
  if (how != status::done) return peers_.lose(p);  // its listener lasts as long as it does
  switch (what) {
    case ending::ticket:
      return wireup_.on_ticket(p, value);
    case ending::backlog:
      return wireup_.on_backlog(p);
    case ending::entry:
      return regions_.on_entry(p);
    case ending::probe:
      return liveness_.on_probe(p);
    default:
      return;
  }
}

void utofu_endpoint::forget_lost() noexcept {
  peers_.take_lost([this](peer_state& p) {
    events_.lost(p, p.why_lost);
    // Nothing is answered by a peer that is gone, so nothing arrives in their memory any more.
    for (remote_vcq* to : p.lanes) {
      if (to == nullptr) continue;
      while (const pending what = queue_.end_oldest(*to)) on_end(what, UTOFU_ERR_MRQ_PEER, 0);
    }
    forget(p);
  });
}

void utofu_endpoint::forget(peer_state& p) noexcept {
  large_.forget(p, [this](op& o) { events_.ended(o, status::peer_lost); });
  liveness_.forget(p);
  messages_.forget(p);
}

/// The peer lives, perhaps: what is under way ends when the hardware says so, as peer_lost.
void utofu_endpoint::drop(remote_lane& of) noexcept {
  auto& p = static_cast<peer_state&>(of);
  if (!std::exchange(p.lost, true)) forget(p);
}

/// More notices came than the hardware's queue holds, which it does not survive. It cannot happen
/// while HEDDLE_UTOFU_MRQ is not above the queue's length.
void utofu_endpoint::on_dead_queue() noexcept {
  if (std::exchange(told_dead_, true)) return;
  log::error(
      log::subsystem::wire,
      "utofu: lane {}: the hardware has given up the queue: is HEDDLE_UTOFU_MRQ more than it "
      "holds?",
      lane_);
  for (peer_state* p : peers_.all()) peers_.lose(*p);
}

void utofu_endpoint::maintain() noexcept {
  const vcq::use mine(vcq_);
  liveness_.probe_some();
}

// --- sleep -----------------------------------------------------------------------------

bool utofu_endpoint::arm() noexcept {
  const vcq::use mine(vcq_);
  queue_.drain();
  credits_.tell_all();
  messages_.ask_for_departure();
  take_failures();
  if (peers_.some_lost()) [[unlikely]]
    forget_lost();
  set_timer(timer_.get(), nap_.begin(now_ns()));
  return events_.empty();
}

}  // namespace heddle::transport::utofu
