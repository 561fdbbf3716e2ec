// endpoint_path.cpp - post and poll: no lock, no allocation, no system call while peers are awake.
#include "backends/shm/copy.h"
#include "backends/shm/endpoint.h"

namespace heddle::transport::shm {

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
      what.finished = device_.find_peer(what.peer) == nullptr ? status::invalid : status::no_memory;
      continue;
    }
    if (to->state != link::state_t::open) [[unlikely]]
      return {i, status::peer_lost};
    if (what.kind == op_kind::send) [[likely]] {
      if (!push(*to, what)) [[unlikely]]
        return {i, to->state == link::state_t::open ? status::busy_queue : status::peer_lost};
    } else if ((device_.describe().native & only(what.kind)) != 0) {
      what.finished = copy_directly(what, *to->peer);
    } else {
      what.finished = status::unsupported;
    }
  }
  return {ops.size(), status::done};
}

/// False: no room now, or no way to the peer can be made, which is lost then.
inline bool shm_endpoint::push(link& to, op& what) noexcept {
  const std::size_t bytes = what.header.size() + what.data.size();
  if (bytes > max_message_) [[unlikely]] {
    what.finished = status::invalid;
    return true;
  }
  if (!to.out && !open_outgoing(to)) [[unlikely]]
    return false;
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

/// What fits into one line of a ring that is there; all else is post()'s.
status shm_endpoint::send(rank to, message_head head, std::span<const std::byte> header,
                          std::span<const std::byte> data) noexcept {
  link* const way = to == last_rank_ ? last_ : by_rank_.find(to);
  if (sizeof head + header.size() + data.size() > sync::ring_producer::line_bytes ||
      way == nullptr || way->state != link::state_t::open || !way->out ||
      !way->out->try_push_line(head.first, head.word, header, data))
    return status::busy_queue;
  way->wake();
  return status::done;
}

std::size_t shm_endpoint::poll(std::span<event> out) noexcept {
  if (chores_ || mine_.rings.at(announced_) != 0) [[unlikely]]
    do_chores();
  for (const link* from : incoming_) {
    if (from->in->has_work()) return collect(out);
  }
  return ending_.empty() ? 0 : collect(out);
}

void shm_endpoint::do_chores() noexcept {
  if (armed_) get_up();
  free_taken();
  read_board();
  chores_ = !later_.empty();
}

/// Goes through all rings once, beginning behind the one that was last the last time.
std::size_t shm_endpoint::collect(std::span<event> out) noexcept {
  std::size_t count = 0;
  const std::size_t rings = incoming_.size();
  for (std::size_t i = 0; i < rings && count < out.size(); ++i) {
    if (first_ >= rings) first_ = 0;
    count += take_from(*incoming_[first_++], out.subspan(count));
  }
  if (!ending_.empty()) [[unlikely]]
    count += report_ends(out.subspan(count));
  return count;
}

inline std::size_t shm_endpoint::take_from(link& from, std::span<event> out) noexcept {
  std::size_t count = 0;
  auto result = sync::ring_consumer::taken::message;
  std::span<const std::byte> bytes;
  while (count < out.size() &&
         (result = from.in->try_take(bytes)) == sync::ring_consumer::taken::message) {
    out[count++] = {event::kind_t::arrived, status::done, from.peer->number(), 0, bytes};
  }
  if (result == sync::ring_consumer::taken::corrupt) [[unlikely]] {
    from.corrupt = true;
    begin_end(from);
  }
  if (from.in->holds_messages()) {
    taken_.push_back(&from);
    chores_ = true;
  }
  return count;
}

/// The events of the last poll are over: their lines go back to the senders.
void shm_endpoint::free_taken() noexcept {
  for (link* from : taken_) {
    from->in->release();
    if (from->in->control().producer_waits.should_wake(from->how)) [[unlikely]]
      from->wake();
  }
  taken_.clear();
}

}  // namespace heddle::transport::shm
