// endpoint_path.cpp - post and poll: no lock, no allocation, no system call while peers are awake.
#include "backends/shm/copy.h"
#include "backends/shm/endpoint.h"

namespace heddle::backends::shm {

inline link* shm_endpoint::find_link(rank peer) noexcept {
  if (peer == last_rank_) [[likely]]
    return last_;
  link* found = by_rank_.find(peer);
  if (found == nullptr) [[unlikely]]
    found = make_link(peer);
  if (found == nullptr) [[unlikely]]
    return nullptr;
  last_rank_ = peer;
  return last_ = found;
}

post_result shm_endpoint::post(std::span<op> ops) noexcept {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    op& what = ops[i];
    link* const to = find_link(what.peer);
    if (to == nullptr) [[unlikely]] {
      what.finished = status::invalid;
      continue;
    }
    if (to->state != link::state_t::open) [[unlikely]]
      return {i, status::peer_lost};
    if (what.kind == op_kind::send) [[likely]] {
      if (!send(*to, what)) return {i, status::busy_queue};
    } else if ((device_.describe().native & only(what.kind)) != 0) {
      what.finished = copy_directly(what, *to->peer);
    } else {
      what.finished = status::unsupported;
    }
  }
  return {ops.size(), status::done};
}

/// False: no room now.
inline bool shm_endpoint::send(link& to, op& what) noexcept {
  const std::size_t bytes = what.header.size() + what.data.size();
  if (bytes > device_.describe().max_message) [[unlikely]] {
    what.finished = status::invalid;
    return true;
  }
  if (!to.out) [[unlikely]] {
    if (!open_outgoing(to, what)) return false;
    if (!to.out) return true;  // it failed, what.finished says how
  }
  if (!to.out->try_push(what.header, what.data)) [[unlikely]] {
    if (!to.blocked) blocked_.push_back(&to);
    to.blocked = true;
    to.blocked_bytes = bytes;
    return false;
  }
  to.wake();
  what.finished = status::done;
  return true;
}

std::size_t shm_endpoint::poll(std::span<event> out) noexcept {
  if (armed_) get_up();
  if (!taken_.empty()) free_taken();
  if (mine_.rings.at(announced_) != 0 || !later_.empty()) [[unlikely]]
    read_board();
  std::size_t count = 0;
  const std::size_t rings = incoming_.size();
  std::size_t at = first_;
  for (std::size_t i = 0; i < rings; ++i, ++at) {
    if (at >= rings) at = 0;
    link& from = *incoming_[at];
    if (!from.in->has_work()) continue;
    if (count == out.size()) break;
    count += take_from(from, out.subspan(count));
  }
  if (count == out.size()) first_ = at;  // whoever came short comes first next time
  if (!ending_.empty()) [[unlikely]]
    count += report_ends(out.subspan(count));
  return count;
}

std::size_t shm_endpoint::take_from(link& from, std::span<event> out) noexcept {
  std::size_t count = 0;
  for (; count < out.size(); ++count) {
    std::span<const std::byte> bytes;
    const auto result = from.in->try_take(bytes);
    if (result == sync::ring_consumer::taken::corrupt) [[unlikely]]
      from.corrupt = true;
    if (result != sync::ring_consumer::taken::message) break;
    out[count] = {event::kind_t::arrived, status::done, from.peer->number(), 0, bytes};
  }
  if (from.corrupt) [[unlikely]]
    begin_end(from);
  if (from.in->holds_messages()) taken_.push_back(&from);
  return count;
}

/// The events of the last poll are over: their lines go back to the senders.
void shm_endpoint::free_taken() noexcept {
  for (link* from : taken_) {
    from->in->release();
    if (from->in->control().producer_waits.should_wake(from->peer->how())) [[unlikely]] {
      from->wake();
    }
  }
  taken_.clear();
}

}  // namespace heddle::backends::shm
