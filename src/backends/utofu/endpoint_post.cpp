// endpoint_post.cpp - posting: one op by its own call, several as one list of descriptors.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "backends/utofu/batch.h"
#include "backends/utofu/endpoint.h"
#include "backends/utofu/names.h"

namespace heddle::transport::utofu {
namespace {

/// Once more when the queue was full, after emptying it.
constexpr int most_tries = 2;

// What utofu_poll_tcq gives back: a message's ticket, or nothing for what its own notice ends.
void* cookie_of_message(std::uint32_t ticket) noexcept {
  return reinterpret_cast<void*>(std::uintptr_t{ticket} << 2 | 1);  // NOLINT: comes back as it is
}
void* cookie_of_plain(link* l) noexcept {
  return reinterpret_cast<std::byte*>(l) + 2;  // links and flights are aligned
}

std::uint32_t lines_of(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + line_bytes - 1) / line_bytes);
}

bool is_reachable(const link& l, const target& t, const op& what) noexcept {
  return l.state != link::state_t::lost && t.state == target::state_t::known && t.address != 0 &&
         allows(t.facts.allowed, rights::write) && what.offset <= t.facts.bytes &&
         what.memory.size() <= t.facts.bytes - what.offset;
}

}  // namespace

/// A small put to where puts went before, without a plan. False: nothing happened, for a reason
/// that the long way finds as well.
inline bool utofu_endpoint::put_at_once(op& what) noexcept {
  if (what.kind != op_kind::put || what.memory.size() - 1 >= max_piggyback) return false;
  if (what.peer != last_rank_ || last_->last_target == nullptr) return false;
  const target& t = *last_->last_target;
  if (t.ref != what.region || !is_reachable(*last_, t, what)) return false;
  flight_queue& queue = t.via->under_way[static_cast<std::size_t>(queue_name::puts)];
  if (queue.full() || window_full()) return false;
  const int code = utofu_put_piggyback(
      vcq_.handle(), t.via->to, what.memory.data(), t.address + what.offset, what.memory.size(),
      queue.next_edata(), UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, cookie_of_plain(last_));
  if (code != UTOFU_SUCCESS) [[unlikely]]
    return false;
  queue.push(flight_queue::entry(what));
  ++plain_;
  return true;
}

/// Why what was not planned is not accepted.
status utofu_endpoint::reason_of(planned made, const plan& p) noexcept {
  if (made == planned::refused) return p.refusal;
  return made == planned::lost ? status::peer_lost : status::busy_queue;
}

/// 1, or 0 with the reason why not.
inline std::size_t utofu_endpoint::post_alone(op& what, status& reason) noexcept {
  for (int tries = 0; tries < most_tries; ++tries) {
    plan p;
    const planned made = make_plan(what, p, true);
    if (made == planned::taken) return 1;
    reason = reason_of(made, p);
    if (made != planned::post) return 0;
    const int code = hand_over(p);
    if (code == UTOFU_ERR_BUSY) [[unlikely]]
      continue;
    reason = code == UTOFU_SUCCESS ? status::done : status_of(code);
    return code == UTOFU_SUCCESS ? 1 : 0;
  }
  return 0;
}

post_result utofu_endpoint::post(std::span<op* const> ops) noexcept {
  const vcq::use mine(vcq_);
  if (ops.size() == 1 && put_at_once(*ops[0])) [[likely]]
    return {1, status::done};
  status reason = status::done;
  std::size_t taken = 0;
  while (taken < ops.size() && reason == status::done) {
    const std::size_t left = ops.size() - taken;
    taken += left == 1 || batch_limit_ == 1 ? post_alone(*ops[taken], reason)
                                            : post_together(ops.subspan(taken), reason);
  }
  return {taken, reason};
}

/// As many as one list takes. All of a list is posted or nothing, so a queue that is nearly full
/// gets shorter lists until it has room again.
std::size_t utofu_endpoint::post_together(std::span<op* const> ops, status& reason) noexcept {
  batch& b = *batch_;
  int code = UTOFU_ERR_BUSY;
  for (int tries = 0; tries < most_tries && code == UTOFU_ERR_BUSY; ++tries) {
    reason = status::done;
    const std::size_t seen = plan_list(ops, reason);
    if (b.size == 0 && seen == 0 && reason == status::done) return post_alone(*ops[0], reason);
    if (b.size == 0) return seen;
    code = post_list();
    if (code == UTOFU_SUCCESS) {
      batch_limit_ = std::min(2 * batch_limit_, max_batch);
      return seen;
    }
    while (b.size != 0) undo(b.plans[--b.size]);
    if (code == UTOFU_ERR_BUSY) drain_tcq();
  }
  batch_limit_ = code == UTOFU_ERR_BUSY ? std::max<std::size_t>(1, batch_limit_ / 2) : 1;
  reason = batch_limit_ == 1 ? status::done : status::busy_queue;  // one by one from there
  return b.before;
}

/// Plans for the first ops, up to one that is in the way, for the `reason` given. Returns how many.
std::size_t utofu_endpoint::plan_list(std::span<op* const> ops, status& reason) noexcept {
  batch& b = *batch_;
  b.size = b.before = 0;
  std::size_t seen = 0;
  for (; seen < std::min(ops.size(), batch_limit_); ++seen) {
    plan& p = b.plans[b.size];
    const planned made = make_plan(*ops[seen], p, false);
    if (made == planned::post) ++b.size;
    if (made == planned::taken && b.size == 0) ++b.before;
    if (made == planned::post || made == planned::taken) continue;
    if (made != planned::alone) reason = reason_of(made, p);
    break;
  }
  return seen;
}

/// Only the last message asks for a notice: those before it have left by then.
int utofu_endpoint::post_list() noexcept {
  batch& b = *batch_;
  std::size_t bytes = 0, last_message = b.size;
  for (std::size_t i = 0; i < b.size; ++i)
    if (b.plans[i].queue == nullptr) last_message = i;
  for (std::size_t i = 0; i < b.size; ++i) {
    descriptor d = b.plans[i].d;
    if (i != last_message) d.flags &= ~static_cast<std::uint32_t>(UTOFU_ONESIDED_FLAG_TCQ_NOTICE);
    std::size_t size = 0;
    const int code = prepare(vcq_.handle(), d, b.descriptors.data() + bytes, size);
    if (code != UTOFU_SUCCESS) return code;
    bytes += size;
  }
  void* const cookie = last_message < b.size ? b.plans[last_message].d.cookie : nullptr;
  return utofu_post_toq(vcq_.handle(), b.descriptors.data(), bytes, cookie);
}

utofu_endpoint::planned utofu_endpoint::make_plan(op& what, plan& p, bool alone) noexcept {
  link* const l = find_link(what.peer);
  if (l == nullptr) [[unlikely]]
    return refuse(p, status::invalid);
  if (l->state == link::state_t::lost) [[unlikely]]
    return planned::lost;
  p.with = l;
  try {
    return what.kind == op_kind::send ? plan_message(*l, what, p) : plan_access(*l, what, p, alone);
  } catch (const std::bad_alloc&) {
    return planned::busy;
  }
}

utofu_endpoint::planned utofu_endpoint::plan_message(link& l, op& what, plan& p) {
  const std::size_t bytes = message_bytes(what);
  if (bytes > max_message || l.lane == nullptr) [[unlikely]]
    return refuse(p, l.lane == nullptr ? status::unsupported : status::invalid);
  if (l.stage != link::stage_t::connected) [[unlikely]] {
    connect(l);
    return planned::busy;
  }
  const std::size_t total =
      l.quietly ? stamp_at(bytes) + sizeof(stamp_t) : sizeof(message_header) + bytes;
  const std::uint32_t lines = lines_of(total);
  const auto at = static_cast<std::uint32_t>(l.sent & (l.their_slots - 1));
  const bool wraps = at + lines > l.their_slots;
  p.slots = lines + (wraps ? l.their_slots - at : 0);
  if (!room_for(l, p.slots)) return planned::busy;
  if (wraps && l.quietly) {  // a message of its own, then
    if (mark_wrap(l, at)) return plan_message(l, what, p);
    return l.state == link::state_t::lost ? planned::lost : planned::busy;
  }
  const bool fits = total <= max_piggyback;
  const auto piece = sent_.take(fits ? 0 : total);
  if (!piece) return planned::busy;
  std::byte* const into = fits ? p.inline_data.data() : piece->at;
  const stamp_t stamp = stamp_of(device_.nonce(), l.sent);
  const message_header head{static_cast<std::uint16_t>(bytes), static_cast<std::uint16_t>(stamp),
                            static_cast<std::uint32_t>(l.released)};
  p.told_before = std::exchange(l.told, l.released);
  p.queue = nullptr;
  std::memcpy(into, &head, sizeof head);
  std::byte* at_next = into + sizeof head;
  for (const std::span<const std::byte> part :
       {std::as_bytes(std::span(&what.head, 1)), what.header,
        std::span<const std::byte>(what.memory)}) {
    if (!part.empty()) std::memcpy(at_next, part.data(), part.size());
    at_next += part.size();
  }
  if (l.quietly) std::memcpy(into + stamp_at(bytes), &stamp, sizeof stamp);
  p.d.what = fits ? descriptor::form::piggyback : descriptor::form::put;
  p.d.data = into;
  p.d.here = piece->address;
  p.d.to = l.lane->to;
  p.d.there = l.their_ring + std::uint64_t{wraps ? 0 : at} * line_bytes;
  p.d.bytes = total;
  p.d.edata = static_cast<std::uint8_t>(edata_message | (wraps ? edata_wrapped : 0));
  p.d.flags = UTOFU_ONESIDED_FLAG_TCQ_NOTICE | (l.quietly ? UTOFU_ONESIDED_FLAG_STRONG_ORDER
                                                          : UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE);
  p.d.cookie = cookie_of_message(piece->ticket);
  l.sent += p.slots;
  unreturned_ += p.slots;
  what.over = true;
  return planned::post;
}

/// Tells a peer that gets no notices to go on at the beginning of its ring.
bool utofu_endpoint::mark_wrap(link& l, std::uint64_t at) noexcept {
  const stamp_t stamp = stamp_of(device_.nonce(), l.sent);
  const message_header mark{wrapped_bytes, static_cast<std::uint16_t>(stamp), 0};
  descriptor d;
  d.what = descriptor::form::piggyback;
  d.to = l.lane->to;
  d.there = l.their_ring + at * line_bytes;
  d.data = &mark;
  d.bytes = sizeof mark;
  d.edata = edata_message;
  d.flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
  if (!post_untracked(d) || l.state == link::state_t::lost) return false;
  const std::uint64_t skipped = l.their_slots - at;
  l.sent += skipped;
  unreturned_ += skipped;
  return true;
}

/// Whether so many lines of the peer's ring are free, and of our own queue of notices.
bool utofu_endpoint::room_for(link& l, std::uint32_t slots) noexcept {
  if (l.sent - l.consumed + slots > l.their_slots) read_credits(l);
  return l.sent - l.consumed + slots <= l.their_slots && !window_full();
}

/// What the peer has told by a put of its own.
void utofu_endpoint::read_credits(link& l) noexcept {
  if (l.mine == nullptr) return;
  const std::uint64_t consumed = l.mine->consumed.get();
  if (consumed <= l.consumed || consumed > l.sent) return;
  unreturned_ -= consumed - l.consumed;
  l.consumed = consumed;
}

/// What the hardware does not take is undone. Where its queue was full, that is emptied after it:
/// doing so may show that a peer is gone, and ends all of its flights, of which a plan's is one.
int utofu_endpoint::hand_over(const plan& p) noexcept {
  const int code = issue(vcq_.handle(), p.d);
  if (code == UTOFU_SUCCESS) [[likely]]
    return code;
  undo(p);
  if (code == UTOFU_ERR_BUSY) drain_tcq();
  return code;
}

void utofu_endpoint::undo(const plan& p) noexcept {
  if (p.queue == nullptr) {
    sent_.untake();
    p.with->sent -= p.slots;
    p.with->told = p.told_before;
    unreturned_ -= p.slots;
    return;
  }
  p.queue->unpush();
  if (p.tracked == nullptr) {
    --plain_;
    return;
  }
  if (p.tracked->staged) staged_.untake();
  flights_.give_back(*p.tracked);
}

/// Only this frees the queue's places, also those of operations that asked for no notice.
void utofu_endpoint::drain_tcq() noexcept {
  void* cookie = nullptr;
  for (;;) {
    const int code = utofu_poll_tcq(vcq_.handle(), 0, &cookie);
    if (code == UTOFU_ERR_NOT_FOUND || code == UTOFU_ERR_BUSY) return;
    if (code == UTOFU_ERR_FATAL) return on_dead_queue();
    const auto value = reinterpret_cast<std::uintptr_t>(cookie);
    if ((value & 3) == 1)
      sent_.give_back_up_to(static_cast<std::uint32_t>(value >> 2));
    else if (code != UTOFU_SUCCESS && cookie != nullptr)
      on_failed_post(cookie, code);
  }
}

/// It never left, so no notice follows. Which of the plain ones it was is not known, and what the
/// hardware has against one it has against all.
void utofu_endpoint::on_failed_post(void* cookie, int code) noexcept {
  if ((reinterpret_cast<std::uintptr_t>(cookie) & 3) == 2)
    return lose(*reinterpret_cast<link*>(static_cast<std::byte*>(cookie) - 2));
  flight& f = *static_cast<flight*>(cookie);
  if (f.over) return;
  f.queue->forget(f);
  on_end(f, code, 0);
}

/// Gives the plan's operation a number, by which its notice finds it.
void utofu_endpoint::enter(plan& p, stream& to, const flight_queue::entry& e) {
  flight_queue& queue = to.under_way[static_cast<std::size_t>(queue_of(p.d.what))];
  p.d.to = to.to;
  p.d.edata = queue.next_edata();
  p.d.flags |= UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
  queue.push(e);
  p.queue = &queue;
}

/// One that has nothing to do at its end.
void utofu_endpoint::enter_plain(plan& p, stream& to, op& what) {
  enter(p, to, flight_queue::entry(what));
  p.tracked = nullptr;
  ++plain_;
  p.d.cookie = cookie_of_plain(p.with);
}

flight& utofu_endpoint::track(plan& p, stream& to) {
  flight& f = flights_.take();
  try {
    enter(p, to, flight_queue::entry(f));
  } catch (...) {
    flights_.give_back(f);
    throw;
  }
  p.tracked = &f;
  p.d.cookie = &f;
  f.with = p.with;
  f.queue = p.queue;
  return f;
}

// --- the endpoint's own operations -------------------------------------------------------

bool utofu_endpoint::post_own(stream& to, flight::purpose what, link& l, descriptor d) noexcept {
  if (window_full()) return false;
  plan p;
  p.d = d;
  p.with = &l;
  try {
    track(p, to).what = what;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return hand_over(p) == UTOFU_SUCCESS;
}

bool utofu_endpoint::post_untracked(const descriptor& d) noexcept {
  int code = issue(vcq_.handle(), d);
  if (code == UTOFU_ERR_BUSY) {
    drain_tcq();
    code = issue(vcq_.handle(), d);
  }
  return code == UTOFU_SUCCESS;
}

}  // namespace heddle::transport::utofu
