// SPDX-License-Identifier: BSD-3-Clause
// reader.cpp - taking what has come, a turn from each connection.
#include "backends/tcp/reader.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::transport::tcp {
namespace {

/// While one connection is busy, another that had nothing this often in a row ...
constexpr std::uint32_t patience = 64;
/// ... is read every so many polls only: each look costs a system call.
constexpr std::uint64_t rarely = 16;

}  // namespace

connection& reader::add(std::unique_ptr<connection> made) {
  if (made->ours()) made->watched = EPOLLERR;  // in the set already, for its handshake
  connection& c = *conns_.emplace_back(std::move(made));
  if (conns_.size() <= few)
    watch(c, 0);
  else
    for (const auto& each : conns_) watch(*each, EPOLLIN);
  return c;
}

void reader::close_all_to(const remote_lane& peer, const connection* kept) noexcept {
  const auto gone = [&](const connection& c) { return &c != kept && &c.peer() == &peer; };
  writer_.forget(gone);
  for (auto* list : {&stalled_, &shared_.changed})
    std::erase_if(*list, [&](const connection* c) { return gone(*c); });
  for (auto& c : conns_) {
    if (!gone(*c)) continue;
    c->ops().end_all();
    watch(*c, 0);  // a forked child may keep the socket open, which would go on telling
    c->release().reset();
    closed_.push_back(std::move(c));
  }
  std::erase(conns_, nullptr);
}

void reader::read_to_end(connection& c) noexcept {
  c.stop_writing();
  soon(c);
}

void reader::soon(connection& c) noexcept {
  if (!c.exhausted && !std::exchange(c.stalled, true)) stalled_.push_back(&c);
}

bool reader::arm() noexcept {
  if (!stalled_.empty()) return false;
  for (const auto& c : conns_) {
    watch(*c, c->dirty ? EPOLLIN | EPOLLOUT : EPOLLIN);
    c->quiet_polls = 0;  // whoever wakes us is read at once
  }
  polls_awake_ = 0;
  return watching_ = true;
}

void reader::begin_poll() noexcept {
  ++polls_;
  if (!closed_.empty()) closed_.clear();
  if (!watching_ || ++polls_awake_ != polls_watched) [[likely]]
    return;
  watching_ = false;
  if (conns_.size() > few) return;
  for (const auto& c : conns_) watch(*c, 0);
}

void reader::watch(connection& c, std::uint32_t events) const noexcept {
  if (c.exhausted) events = 0;  // its end would wake us for ever
  (void)tcp::watch(epoll_, c.fd(), std::exchange(c.watched, events), events, &c);
}

void reader::read(event_sink& sink) noexcept {
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

void reader::read_few(event_sink& sink) noexcept {
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

void reader::read_ready(event_sink& sink) noexcept {
  for (connection* c : reading_) read(*c, sink);
  std::array<epoll_event, 64> ready;
  const int n = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < n; ++i) {
    const epoll_event& e = ready[static_cast<std::size_t>(i)];
    // Connections being made and the doorbell have no pointer, and had their turn.
    if (e.data.ptr == nullptr || (e.events & ~EPOLLOUT) == 0) continue;
    read(*static_cast<connection*>(e.data.ptr), sink);
  }
}

void reader::read(connection& c, event_sink& sink) noexcept {
  if (c.exhausted || c.polled_in == polls_) return;
  c.polled_in = polls_;
  const connection::reading r = c.receive(sink);
  c.quiet_polls = r == connection::reading::quiet ? c.quiet_polls + 1 : 0;
  const bool over = r == connection::reading::ended || r == connection::reading::broken;
  c.over = c.over || over;
  if (over || (c.chosen() && !c.used)) [[unlikely]]
    shared_.changed.push_back(&c);
  if (over || (c.mute && r == connection::reading::quiet) || c.received >= c.read_limit) {
    c.exhausted = true;
    watch(c, 0);
  }
  if (c.mute)
    c.out().discard();
  else if (!c.out().empty())
    writer_.mark(c);
  if (r == connection::reading::more || c.mute) soon(c);
}

}  // namespace heddle::transport::tcp
