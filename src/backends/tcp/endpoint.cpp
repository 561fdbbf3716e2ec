// SPDX-License-Identifier: BSD-3-Clause
// endpoint.cpp - posting on a lane, polling it, making its connections, and losing its peers.
#include "backends/tcp/endpoint.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "backends/tcp/settings.h"
#include "base/error.h"

namespace heddle::transport::tcp {
namespace {

constexpr std::size_t least_chunk = 4096;

/// The connection to the peer; null: there is none.
connection* route(const remote_lane& to) noexcept {
  return static_cast<const peer_lane&>(to).out;
}

}  // namespace

tcp_endpoint::tcp_endpoint(tcp_device& owner, int lane, const settings& config,
                           memory::region_table& regions)
    : device_(owner),
      lane_(lane),
      timeout_ms_(config.peer_timeout_ms),
      epoll_(make_epoll()),
      incoming_({owner.self(), lane}),
      shared_(regions, std::clamp(number_of(chunk_size, config), least_chunk, max_fragment)),
      connector_(owner, lane, epoll_.get()),
      writer_(shared_),
      reader_(epoll_.get(), shared_, writer_),
      losses_(reader_) {
  if (!watch(epoll_.get(), incoming_.fd(), 0, EPOLLIN) ||
      !watch(epoll_.get(), losses_.fd(), 0, EPOLLIN))
    fail_errno(errno, "tcp: open lane {}: epoll_ctl", lane);
}

// Says goodbye where it can be said at once.
tcp_endpoint::~tcp_endpoint() {
  device_.forget(lane_);
  for (const auto& c : reader_.all()) {
    if (c->mute) continue;
    if (std::byte* at = c->out().frames.extend(common_header); at != nullptr) write_bye(at);
    (void)c->flush();
    close_softly(c->release());
  }
}

status tcp_endpoint::send(remote_lane& to, message_head head, std::span<const std::byte> header,
                          std::span<const std::byte> data) noexcept {
  connection* const c = route(to);
  if (c == nullptr || !c->join(head, header, data)) [[unlikely]]
    return send_rarely(to, head, header, data);
  return status::done;
}

status tcp_endpoint::send_rarely(remote_lane& to, message_head head,
                                 std::span<const std::byte> header,
                                 std::span<const std::byte> data) noexcept {
  connection* const c = route(to);
  if (c == nullptr || c->send(head, header, data) != status::done) return status::busy_queue;
  writer_.settle(*c);
  return status::done;
}

post_result tcp_endpoint::post(std::span<op* const> ops) noexcept {
  status s = status::done;
  std::size_t accepted = 0;
  connection* last = nullptr;  // was appended to, and is not settled yet
  for (; accepted < ops.size(); ++accepted) {
    op& o = *ops[accepted];
    connection* c = route(*o.to);
    if (last != nullptr && last != c) writer_.settle(*std::exchange(last, nullptr));
    s = c != nullptr ? begin(o, *c) : begin_route(static_cast<peer_lane&>(*o.to));
    if (s != status::done) break;
    last = c;
  }
  if (s == status::busy_queue) refused_at_ = shared_.room_made;
  if (last != nullptr) writer_.settle(*last);
  return {accepted, s};
}

status tcp_endpoint::begin(op& o, connection& c) noexcept {
  if (o.kind == op_kind::send) {
    const status s = c.send(o.head, o.header, o.memory);
    o.over = s == status::done;
    return s;
  }
  if (o.kind == op_kind::atomic &&
      ((o.width != 4 && o.width != 8) || (!o.memory.empty() && o.memory.size() < o.width)))
    return status::invalid;
  if (!c.ops().has_room_for(o)) return status::busy_queue;
  c.ops().begin(o);
  return status::done;
}

// For an op to a peer without a connection: connecting has begun, if it can.
status tcp_endpoint::begin_route(peer_lane& p) noexcept {
  if (p.is == peer_lane::life::known) {
    p.is = peer_lane::life::wanted;
    connector_.start(p);
  }
  return p.is == peer_lane::life::wanted ? status::busy_queue : status::peer_lost;
}

std::size_t tcp_endpoint::poll(std::span<event> out) noexcept {
  if (reader_.all().empty() && !connector_.is_making_any() && !losses_.any() && nothing_to_do())
    return 0;
  event_sink sink{out};
  reader_.begin_poll();
  make_connections();
  writer_.flush(true);
  act_on_changes();
  tell(sink);
  reader_.read(sink);
  act_on_changes();
  writer_.flush(false);  // what reading gave cause to say
  end_losses();
  tell(sink);
  return sink.count;
}

bool tcp_endpoint::arm() noexcept {
  writer_.flush(true);
  if (!nothing_to_do()) return false;
  if (refused_at_ && *refused_at_ != shared_.room_made) {
    refused_at_.reset();
    return false;
  }
  return reader_.arm();
}

// But for what sockets and timers will tell.
bool tcp_endpoint::nothing_to_do() const noexcept {
  return shared_.ended.empty() && shared_.changed.empty() && !incoming_.any() &&
         !connector_.has_news() && losses_.only_wait();
}

void tcp_endpoint::tell(event_sink& sink) noexcept {
  for (; !sink.full() && !shared_.ended.empty(); shared_.ended.pop()) {
    op& o = *shared_.ended.front();
    sink.add({event::kind_t::ended, o.notes<op_notes>().code, o.to, &o, {}});
  }
  losses_.tell(sink);
}

// nullptr: no such rank or lane, no way, or no memory.
remote_lane* tcp_endpoint::reach(rank peer, int lane) noexcept {
  if (peer_lane* const known = peers_.find(peer, lane); known != nullptr) return known;
  if (lane < 0 || lane >= max_lanes || peer < 0 || peer >= device_.size() || !device_.knows(peer))
    return nullptr;
  try {
    return &peers_.insert(peer, lane, std::make_unique<peer_lane>(peer, lane));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void tcp_endpoint::make_connections() noexcept {
  if (!incoming_.any() && !connector_.is_making_any() && !connector_.has_news()) return;
  for (accepted& a : incoming_.take())
    if (auto* const p = static_cast<peer_lane*>(reach(a.from, a.from_lane)); p != nullptr)
      adopt(std::move(a.with), *p, false);
  for (connector::outcome& o : connector_.advance()) {
    if (o.with)
      adopt(std::move(o.with), *o.peer, true);
    else if (o.peer->is == peer_lane::life::wanted && !reader_.has_any(*o.peer))
      losses_.begin(*o.peer, status::unsupported, std::move(o.why), true);  // it may find a way
  }
}

// `ours`: we made it.
void tcp_endpoint::adopt(stream with, peer_lane& p, bool ours) noexcept {
  if (p.is == peer_lane::life::lost) return;
  const incoming_connections::lane_name name{p.peer, p.lane};
  const bool choosing = incoming_.chooses(name, ours);
  // There is a chosen one, or, from whoever chooses, one more than it may offer.
  const auto needless = [&] {
    if (p.out != nullptr && !is_self(p)) return true;
    return std::ranges::any_of(
        reader_.all(), [&](const auto& c) { return &c->peer() == &p && c->ours() == ours; });
  };
  if (choosing ? ours && !incoming_.choose(with, name) : needless())
    return turn_away(std::move(with));
  tune(with.fd(), timeout_ms_);
  connection* made = nullptr;
  try {
    made = &reader_.add(std::make_unique<connection>(std::move(with), p, ours, shared_));
  } catch (const std::bad_alloc&) {
    return begin_loss(p, status::unsupported, "this process has no memory for a connection to it");
  }
  connection& c = *made;
  if (choosing) c.choose();
  if (p.is == peer_lane::life::ending) {
    losses_.end_grace(p);
    return reader_.read_to_end(c);
  }
  if (p.is == peer_lane::life::wanted) losses_.forget(p);  // if it was missed
  if (choosing) use(c);
}

// What else there is between the two is not needed any more. Nothing has travelled on
// it: only a chosen connection carries frames.
void tcp_endpoint::use(connection& c) noexcept {
  c.used = true;
  ++shared_.room_made;
  const bool to_self = is_self(c.peer());
  if (to_self && !c.ours()) return;  // the other end of what is used already
  peer_lane& p = c.peer();
  if (p.is <= peer_lane::life::wanted) p.out = &c;
  if (to_self) return;
  connector_.forget(p);
  reader_.close_all_to(p, &c);
}

void tcp_endpoint::act_on_changes() noexcept {
  if (shared_.changed.empty()) return;
  for (connection* c : std::exchange(shared_.changed, {})) {
    if (c->fd() < 0) continue;  // closed meanwhile
    if (c->chosen() && !c->used) use(*c);
    if (c->over && !c->turned_away()) begin_loss(c->peer(), status::peer_lost, c->describe_end());
  }
}

// From here on the peer only gets to finish what it had said.
void tcp_endpoint::begin_loss(peer_lane& p, status code, std::string why) noexcept {
  if (p.is == peer_lane::life::unreached) return reader_.close_all_to(p);
  if (p.is > peer_lane::life::unreached) return;
  p.is = peer_lane::life::ending;
  losses_.forget(p);  // if it was missed
  losses_.begin(p, code, std::move(why), p.out == nullptr);
  p.out = nullptr;
  for (const auto& c : reader_.all()) {
    if (&c->peer() == &p) reader_.read_to_end(*c);
  }
}

void tcp_endpoint::end_losses() noexcept {
  for (remote_lane* each : losses_.finish()) {
    auto& p = static_cast<peer_lane&>(*each);
    if (p.is == peer_lane::life::wanted)
      p.is = peer_lane::life::unreached;
    else
      close_all(p);
  }
}

// Whatever is in flight to the peer ends, and its connections close.
void tcp_endpoint::close_all(peer_lane& p) noexcept {
  p.is = peer_lane::life::lost;
  p.out = nullptr;
  connector_.forget(p);
  reader_.close_all_to(p);
}

void tcp_endpoint::drop(remote_lane& of) noexcept {
  auto& p = static_cast<peer_lane&>(of);
  if (p.is == peer_lane::life::lost) return;
  losses_.forget(p);
  close_all(p);
}

/// What has come while nobody looked is still to be read.
void tcp_endpoint::maintain() noexcept {
  const std::uint64_t away = looks_.unwatched(now_ms(), timeout_ms_);
  connector_.expire(timeout_ms_, away);
  for (const auto& c : reader_.all()) {
    if (c->is_stuck(timeout_ms_, away))
      begin_loss(c->peer(), status::peer_lost,
                 fmt::format("nothing moved on a connection to it for {} s", timeout_ms_ / 1000));
  }
}

}  // namespace heddle::transport::tcp
