// endpoint_poll.cpp - notices: operations that ended, messages that came.
#include <cstring>
#include <utility>

#include "backends/utofu/endpoint.h"
#include "backends/utofu/names.h"
#include "base/log.h"

namespace heddle::transport::utofu {
namespace {

/// While no message is on its way out, only errors of operations that never left are in the TCQ.
constexpr unsigned polls_per_drain = 32;
/// After so many polls a peer hears of all that was freed: what each of many peers is not told yet
/// adds up to a window that is full for ever.
constexpr unsigned polls_per_rest = 256;

}  // namespace

std::size_t utofu_endpoint::poll(std::span<event> out) noexcept {
  const vcq::use mine(vcq_);
  out_ = out;
  count_ = 0;
  while (!later_.empty() && count_ < out_.size()) {
    out_[count_++] = later_.front();
    later_.pop_front();
  }
  if (chores_) [[unlikely]]
    do_chores();
  if (++polls_ % polls_per_drain == 0 || !sent_.empty()) drain_tcq();
  if (!untold_.empty() && polls_ % polls_per_rest == 0) tell_rest();
  if (home_.tickets.get() != door_next_) [[unlikely]]
    read_door();
  for (link* l : quiet_) look_for_messages(*l);
  utofu_mrq_notice notice;
  while (count_ < out_.size()) {
    const int code = utofu_poll_mrq(vcq_.handle(), 0, &notice);
    if (code == UTOFU_ERR_NOT_FOUND || code == UTOFU_ERR_BUSY) break;
    if (code == UTOFU_ERR_FATAL) [[unlikely]] {
      on_dead_queue();
      break;
    }
    on_notice(code, notice);
  }
  eventful_ |= count_ != 0;
  out_ = {};
  return count_;
}

void utofu_endpoint::do_chores() noexcept {
  release_taken();
  if (!connecting_.empty()) move_connections();
  for (link* l : std::exchange(owing_, {})) {
    if (l->answers) send_answer(*l);
    if (l->credits) tell_credits(*l);
    ask_in_doubt(*l);
  }
  if (!large_.empty()) move_large();
  chores_ = !connecting_.empty() || !owing_.empty() || !large_.empty();
}

stream* utofu_endpoint::find_stream(utofu_vcq_id_t id) noexcept {
  if (id == last_id_) [[likely]]
    return last_stream_;
  stream* const found = streams_.find(id);
  if (found != nullptr) {
    last_id_ = id;
    last_stream_ = found;
  }
  return found;
}

void utofu_endpoint::on_notice(int code, const utofu_mrq_notice& n) noexcept {
  stream* const from = find_stream(n.vcq_id);
  if (from == nullptr) return;  // nobody we have had to do with
  queue_name queue = queue_name::puts;
  switch (n.notice_type) {
    case UTOFU_MRQ_TYPE_RMT_PUT:
      if (code == UTOFU_SUCCESS && (n.edata & edata_message) != 0)
        on_message(*from->with, (n.edata & edata_wrapped) != 0);
      return;
    case UTOFU_MRQ_TYPE_LCL_PUT:
      if ((n.edata & edata_message) == 0) break;
      if (code != UTOFU_SUCCESS) lose(*from->with);  // a message that did not arrive
      return;
    case UTOFU_MRQ_TYPE_LCL_GET:
      queue = queue_name::gets;
      break;
    case UTOFU_MRQ_TYPE_LCL_ARMW:
      queue = queue_name::atomics;
      break;
    default:
      return;
  }
  on_end(*from->with, from->under_way[static_cast<std::size_t>(queue)].take(n.edata), code,
         n.rmt_value);
}

/// It lies where the last one ended, or at the beginning of the ring. Stays until the next poll.
void utofu_endpoint::on_message(link& l, bool wrapped) noexcept {
  if (l.state == link::state_t::lost || l.ring == nullptr) return;
  if (l.taken == l.released) taken_.push_back(&l);
  std::uint64_t at = l.taken & (l.ring_slots - 1);
  if (wrapped) {
    l.taken += l.ring_slots - at;
    at = 0;
  }
  const std::byte* const from = l.ring + at * line_bytes;
  message_header head;
  std::memcpy(&head, from, sizeof head);
  const std::size_t total =
      l.quiet ? stamp_at(head.bytes) + sizeof(stamp_t) : sizeof head + head.bytes;
  const std::uint64_t lines = (total + line_bytes - 1) / line_bytes;
  if (head.bytes > max_message || at + lines > l.ring_slots) return lose(l);  // it makes no sense
  chores_ = true;
  l.taken += lines;
  const std::uint32_t more = head.consumed - static_cast<std::uint32_t>(l.consumed);
  if (more <= l.sent - l.consumed) {
    l.consumed += more;
    unreturned_ -= more;
  }
  emit(event::kind_t::arrived, status::done, l, 0, {from + sizeof head, head.bytes});
}

/// Those that no notice tells of: each is there when its stamp is.
void utofu_endpoint::look_for_messages(link& l) noexcept {
  while (l.state != link::state_t::lost && count_ < out_.size()) {
    const std::byte* from = l.ring + (l.taken & (l.ring_slots - 1)) * line_bytes;
    const auto stamp = stamp_of(l.peer->nonce, l.taken);
    message_header head;
    std::memcpy(&head, from, sizeof head);
    if (head.stamp != static_cast<std::uint16_t>(stamp)) return;
    if (head.bytes == wrapped_bytes) {
      if (l.taken == l.released) taken_.push_back(&l);
      l.taken += l.ring_slots - (l.taken & (l.ring_slots - 1));
      chores_ = true;
      continue;
    }
    if (head.bytes > max_message) return;
    const auto* const behind =
        reinterpret_cast<const sync::published<stamp_t>*>(from + stamp_at(head.bytes));
    if (behind->get() != stamp) return;
    on_message(l, false);
  }
}

/// The messages of the last poll are over: their lines are the peers' again.
void utofu_endpoint::release_taken() noexcept {
  for (link* l : taken_) {
    l->released = l->taken;
    if (l->released - l->told >= l->ring_slots / 4) tell_credits(*l);
    if (l->released != l->told && !std::exchange(l->untold, true)) untold_.push_back(l);
  }
  taken_.clear();
}

/// Now and then, and before the lane sleeps.
void utofu_endpoint::tell_rest() noexcept {
  for (link* l : untold_) {
    l->untold = false;
    if (l->released != l->told && !l->credits) tell_credits(*l);
  }
  untold_.clear();
}

/// Mostly the next message to the peer says it as well; a put of its own is for one-way traffic.
void utofu_endpoint::tell_credits(link& l) noexcept {
  l.credits = false;
  if (l.state == link::state_t::lost || l.stage != link::stage_t::connected) return;
  descriptor d;
  d.what = descriptor::form::piggyback;
  d.to = l.lane->to;
  d.there = l.their_line + offsetof(line, consumed);
  d.data = &l.released;
  d.bytes = sizeof l.released;
  d.edata = edata_message;
  if (post_untracked(d)) {
    l.told = l.released;
    return;
  }
  l.credits = true;
  owing_.push_back(&l);
}

// --- ends ------------------------------------------------------------------------------

/// A steering tag that is not valid means that the region was withdrawn, or that its owner has gone
/// and all its tags with it: a look at the owner decides, and until then the op is under way.
void utofu_endpoint::conclude(link& l, op& what, status how) noexcept {
  if (how == status::withdrawn) [[unlikely]] {
    l.doubts.push_back(&what);
    return ask_in_doubt(l);
  }
  emit(event::kind_t::ended, how, l, &what);
}

void utofu_endpoint::on_end(link& l, const flight_queue::entry& e, int code,
                            std::uint64_t value) noexcept {
  if (!e.there()) [[unlikely]]
    return;
  if (!e.is_plain()) return on_end(*e.tracked(), code, value);
  --plain_;
  if (code == UTOFU_SUCCESS) [[likely]]
    return emit(event::kind_t::ended, status::done, l, &e.access());
  const status how = outcome_of(l, code);
  conclude(l, e.access(), how);
  if (how == status::peer_lost) [[unlikely]]
    lose(l);
}

void utofu_endpoint::on_end(flight& f, int code, std::uint64_t value) noexcept {
  link& l = *f.with;
  const status how = outcome_of(l, code);
  settle(f, how, value);
  flights_.give_back(f);
  if (how == status::peer_lost) [[unlikely]]
    lose(l);
}

void utofu_endpoint::settle(flight& f, status how, std::uint64_t value) noexcept {
  if (how == status::done && f.into != nullptr)
    std::memcpy(f.into, f.kind == op_kind::get ? static_cast<const void*>(f.landed) : &value,
                f.bytes);
  if (f.staged) staged_.give_back(f.ticket);
  if (f.what == flight::purpose::access) [[likely]]
    conclude(*f.with, *f.of, how);
  else if (f.what == flight::purpose::piece)
    piece_ended(f, how);
  else
    on_own_end(f, how, value);
}

/// What was fetched of the peer's table counts no more once a region is not found where it was.
status utofu_endpoint::outcome_of(link& l, int code) noexcept {
  if (code == UTOFU_SUCCESS) [[likely]]
    return status::done;
  if (l.state == link::state_t::lost) return status::peer_lost;
  const status how = status_of(code);
  if (how == status::withdrawn) {
    for (auto& [slot, t] : l.targets)
      if (t.tag == 0 && t.state == target::state_t::known) t.state = target::state_t::unknown;
  }
  return how;
}

void utofu_endpoint::ask_in_doubt(link& l) noexcept {
  if (l.doubts.empty() || l.probing) return;
  probe(l);
  if (l.probing) {
    l.doubts_asked = l.doubts.size();
    return;
  }
  owing_.push_back(&l);
  chores_ = true;
}

/// `count` of the oldest.
void utofu_endpoint::settle_doubts(link& l, std::size_t count, status how) noexcept {
  for (std::size_t i = 0; i < count; ++i) emit(event::kind_t::ended, how, l, l.doubts[i]);
  l.doubts.erase(l.doubts.begin(), l.doubts.begin() + static_cast<std::ptrdiff_t>(count));
  l.doubts_asked = 0;
}

void utofu_endpoint::on_own_end(const flight& f, status code, std::uint64_t value) noexcept {
  link& l = *f.with;
  if (f.what == flight::purpose::probe) l.probing = false;
  if (f.what == flight::purpose::entry) l.fetching = false;
  if (l.state == link::state_t::lost) return;
  std::uint64_t nonce = 0;
  if (code != status::done) return lose(l);  // its homes and tables last as long as it does
  switch (f.what) {
    case flight::purpose::ticket:
      return on_ticket(l, value);
    case flight::purpose::places:
      return on_places(l);
    case flight::purpose::entry:
      return on_entry(l);
    case flight::purpose::probe:
      std::memcpy(&nonce, l.mine->fetched.data() + nonce_at, sizeof nonce);
      if (nonce != l.peer->nonce) return lose(l);  // another process has its queue now
      settle_doubts(l, l.doubts_asked, status::withdrawn);
      return ask_in_doubt(l);
    default:
      return;
  }
}

/// More notices came than the hardware's queue holds, which it does not survive. It cannot happen
/// while HEDDLE_UTOFU_MRQ is not above the queue's length.
void utofu_endpoint::on_dead_queue() noexcept {
  if (std::exchange(dead_, true)) return;
  log::error(
      "utofu: lane {}: the hardware has given up the queue: is HEDDLE_UTOFU_MRQ={} more than "
      "it holds?",
      lane_, device_.chosen().mrq);
  for (link* l : known_) lose(*l);
}

}  // namespace heddle::transport::utofu
