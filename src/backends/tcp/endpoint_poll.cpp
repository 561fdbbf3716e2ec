// endpoint_poll.cpp - moving bytes both ways and telling what came of it.
#include <sys/epoll.h>

#include <algorithm>

#include "backends/tcp/endpoint.h"

namespace heddle::transport::tcp {
namespace {

/// While one connection is busy, another that had nothing this often in a row ...
constexpr std::uint32_t patience = 64;
/// ... is read every so many polls only: each look costs a system call.
constexpr std::uint64_t rarely = 16;

}  // namespace

std::size_t tcp_endpoint::poll(std::span<event> out) noexcept {
  if (conns_.empty() && attempts_.empty() && ending_.empty() && !was_given_.is_set() &&
      nothing_to_tell()) {
    return 0;
  }
  if (watching_ && ++polls_awake_ == polls_watched) [[unlikely]]
    unwatch_few();
  event_sink sink{out};
  ++polls_;
  if (!buried_.empty()) buried_.clear();
  if (was_given_.is_set() || !attempts_.empty()) [[unlikely]] {
    take_given();
    advance_attempts();
  }
  if (!dirty_.empty()) flush_dirty(true);
  if (has_ended()) take_ended(sink);
  read_all(sink);
  if (!dirty_.empty()) flush_dirty(false);  // what reading gave cause to say
  if (!ending_.empty() || has_spares_) [[unlikely]] {
    finish_losses();
    drop_spares();
  }
  if (has_ended()) take_ended(sink);
  ++epoch_;
  return sink.count;
}

bool tcp_endpoint::nothing_to_tell() const noexcept {
  return !has_ended() && losses_wait();
}

bool tcp_endpoint::arm() noexcept {
  ++epoch_;
  flush_dirty(true);
  if (!nothing_to_tell() || !stalled_.empty() || was_given_.is_set()) return false;
  if (refused_at_ && *refused_at_ != shared_.room_made) {
    refused_at_.reset();
    return false;
  }
  if (conns_.size() <= few)
    for (const auto& c : conns_) watch(*c, EPOLLIN);
  for (connection* c : dirty_) watch(*c, EPOLLIN | EPOLLOUT);
  polls_awake_ = 0;
  for (const auto& c : conns_) c->quiet_polls = 0;  // whoever wakes us is read at once
  return watching_ = true;
}

// A socket in an epoll set costs its sender about 1 us per packet, so few of them are taken out
// when somebody goes on polling. Many stay: then it is the set that says which to read.
void tcp_endpoint::unwatch_few() noexcept {
  watching_ = false;
  if (conns_.size() > few) return;
  for (const auto& c : conns_) watch(*c, 0);
}

void tcp_endpoint::take_ended(event_sink& sink) noexcept {
  for (; !sink.full() && !shared_.ended.empty(); shared_.ended.pop()) {
    op& o = *shared_.ended.front();
    sink.add({event::kind_t::ended, o.notes<op_notes>().code, o.peer, &o, {}});
  }
  while (!sink.full() && !lost_.empty()) {
    event e;
    e.kind = event::kind_t::peer_lost;
    e.code = status::peer_lost;
    e.peer = lost_.back();
    e.bytes = bytes_of(peers_[static_cast<std::size_t>(e.peer)]->why);
    lost_.pop_back();
    sink.add(e);
  }
}

void tcp_endpoint::flush_dirty(bool retry_blocked) noexcept {
  std::erase_if(dirty_, [&](connection* c) {
    if (!c->out().empty() && (!c->blocked || retry_blocked)) flush(*c);
    c->dirty = !c->out().empty();
    return !c->dirty;
  });
}

void tcp_endpoint::flush(connection& c) noexcept {
  const outbox::flow f = c.flush();
  c.blocked = f == outbox::flow::blocked;
  if (f == outbox::flow::drained && (c.watched & EPOLLOUT) != 0) watch(c, EPOLLIN);
  if (f == outbox::flow::broken) begin_loss(c.peer(), c.describe_end());
}

void tcp_endpoint::watch(connection& c, std::uint32_t events) noexcept {
  if (c.exhausted) events = 0;  // its end would wake us for ever
  if (c.watched == events) return;
  epoll_event e{};
  e.events = events;
  e.data.ptr = &c;
  const int change = c.watched == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  (void)::epoll_ctl(epoll_.get(), change, c.fd(), &e);
  c.watched = events;
}

void tcp_endpoint::read_all(event_sink& sink) noexcept {
  if (!stalled_.empty()) {
    reading_.swap(stalled_);
    for (connection* c : reading_) c->stalled = false;
  }
  if (conns_.size() == 1)
    read(*conns_.front(), sink);
  else if (conns_.size() <= few)
    read_few(sink);
  else
    read_ready(sink);
  reading_.clear();
}

void tcp_endpoint::read_few(event_sink& sink) noexcept {
  const bool all = polls_ % rarely == 0 || std::ranges::none_of(conns_, [](const auto& c) {
                     return c->quiet_polls < patience;
                   });
  for (std::size_t i = 0; i < conns_.size(); ++i) {
    if (++turn_ >= conns_.size()) turn_ = 0;
    connection& c = *conns_[turn_];
    if (all || c.quiet_polls < patience) read(c, sink);
  }
  if (++turn_ >= conns_.size()) turn_ = 0;  // the next poll begins with another one
}

void tcp_endpoint::read_ready(event_sink& sink) noexcept {
  for (connection* c : reading_) read(*c, sink);
  std::array<epoll_event, 64> ready;
  const int n = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < n; ++i) {
    const epoll_event& e = ready[static_cast<std::size_t>(i)];
    // Connections being made and the doorbell have no pointer, and had their turn.
    if (e.data.ptr == nullptr || (e.events & ~EPOLLOUT) == 0) continue;
    read(*static_cast<connection*>(e.data.ptr), sink);
  }
}

void tcp_endpoint::read(connection& c, event_sink& sink) noexcept {
  if (c.exhausted || c.polled_in == polls_) return;
  c.polled_in = polls_;
  const connection::reading r = c.receive(sink);
  if (c.chosen() && !c.used) [[unlikely]]
    use(c);
  c.quiet_polls = r == connection::reading::quiet ? c.quiet_polls + 1 : 0;
  bool again = r == connection::reading::more;
  if (r == connection::reading::ended || r == connection::reading::broken) {
    c.exhausted = true;
    watch(c, 0);
    if (!c.turned_away()) begin_loss(c.peer(), c.describe_end());
  } else if (c.mute) {
    c.exhausted = r == connection::reading::quiet || c.received >= c.read_limit;
    again = !c.exhausted;
  }
  if (c.mute) {
    c.out().discard();
  } else if (!c.out().empty()) {
    mark_dirty(c);
  }
  if (again && !c.stalled) {
    c.stalled = true;
    stalled_.push_back(&c);
  }
}

}  // namespace heddle::transport::tcp
