// endpoint_peers.cpp - making connections, and losing peers.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backends/tcp/endpoint.h"
#include "base/clock.h"

namespace heddle::transport::tcp {
namespace {

// A refusal may also mean that the acceptor had too many strangers at its door.
constexpr int most_tries = 3;
// More than a socket holds: what has arrived when a peer is lost, not what it goes on sending.
constexpr std::uint64_t last_words_bytes = 16 * 1024 * 1024;
// A peer that is lost before any connection was chosen may have chosen one that is still being
// proven, and said something on it: two that connect to each other at once do.
constexpr std::uint64_t grace_ms = 300;

std::uint64_t now_ms() noexcept {
  return now_ns() / 1'000'000;
}

/// For people: why no connection came to be. `code`: of errno; 0: not the system's doing.
std::string describe_refusal(int code) {
  if (code == EMFILE || code == ENFILE)
    return fmt::format("no descriptor is left for a connection to it: {} (raise ulimit -n)",
                       std::strerror(code));
  if (code != 0) return fmt::format("it cannot be connected to: {}", std::strerror(code));
  return "it hung up on our connection, or could not prove to be of this job";
}

/// In order, so that the peer waits for the one that was chosen and does not hold us for dead.
void turn_away(unique_fd fd) noexcept {
  std::array<std::byte, common_header> bye;
  write_bye(bye.data());
  (void)transmit(fd.get(), bye);
  close_softly(std::move(fd));
}

}  // namespace

tcp_endpoint::peer_state& tcp_endpoint::state_of(rank peer) {
  auto& p = peers_[static_cast<std::size_t>(peer)];
  if (p == nullptr) p = std::make_unique<peer_state>();
  return *p;
}

// For an op to a peer without a connection: connecting has begun, if it can.
status tcp_endpoint::begin_route(const op& o) noexcept {
  if (!valid(o.peer) || !device_.way_to(o.peer, 0)) return status::invalid;
  peer_state& p = state_of(o.peer);
  if (p.is != peer_state::life::known) return status::peer_lost;
  if (!p.started) start(o.peer);
  return p.is == peer_state::life::known ? status::busy_queue : status::peer_lost;
}

void tcp_endpoint::start(rank peer) noexcept {
  state_of(peer).started = true;
  for (int rail = 0; rail < device_.rails(); ++rail) start_rail(peer, rail, 1);
}

void tcp_endpoint::start_rail(rank peer, int rail, int tries) noexcept {
  const auto way = device_.way_to(peer, rail);
  if (!way) return;
  hello h;
  h.from = static_cast<std::uint32_t>(device_.self());
  h.to = static_cast<std::uint32_t>(peer);
  h.lane = static_cast<std::uint16_t>(lane_);
  h.rail = static_cast<std::uint8_t>(rail);
  unique_fd fd = connect_to(way->from, way->to);
  const int refusal = errno;
  auto a = std::make_unique<attempt>(attempt{
      handshake::initiate(std::move(fd), h, device_.secret()), peer, rail, tries, now_ms()});
  if (a->talk.fd() < 0) return give_up(*a, describe_refusal(refusal));
  epoll_event e{};
  e.events = EPOLLOUT;
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, a->talk.fd(), &e);
  attempts_.push_back(std::move(a));
}

void tcp_endpoint::advance_attempts() noexcept {
  for (std::size_t i = 0; i < attempts_.size();) {
    attempt& a = *attempts_[i];
    const bool wrote = a.talk.waits_to_write();
    const handshake::state s = a.talk.advance();
    if (s == handshake::state::pending) {
      if (a.talk.waits_to_write() != wrote) {
        epoll_event e{};
        e.events = wrote ? EPOLLIN : EPOLLOUT;
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, a.talk.fd(), &e);
      }
      ++i;
      continue;
    }
    const std::unique_ptr<attempt> over = std::move(attempts_[i]);
    attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(i));
    if (s == handshake::state::done) {
      adopt(over->talk.release(), over->peer, over->rail, true);
    } else {
      give_up(*over, describe_refusal(over->talk.error()));
    }
  }
}

// A rail that cannot be connected is done without, unless it is the one that small ops need.
void tcp_endpoint::give_up(const attempt& a, const std::string& why) noexcept {
  const peer_state& p = state_of(a.peer);
  if (p.is != peer_state::life::known) return;
  if (a.tries < most_tries) {
    start_rail(a.peer, a.rail, a.tries + 1);
  } else if (a.rail == 0 && std::ranges::none_of(conns_, [&](const auto& c) {
               return c->peer() == a.peer && c->rail() == 0;
             })) {
    begin_loss(a.peer, why);
  }
}

void tcp_endpoint::give(accepted who) {
  const auto peer = static_cast<rank>(who.from);
  if (!valid(peer)) return;
  if (chooses(peer, false) && !choose(who.fd, peer, who.rail)) return turn_away(std::move(who.fd));
  {
    const std::lock_guard lock(given_mutex_);
    given_.push_back(std::move(who));
  }
  was_given_.set();
  signal_eventfd(doorbell_.get());
}

void tcp_endpoint::take_given() noexcept {
  if (!was_given_.is_set() || !was_given_.take()) return;
  clear_eventfd(doorbell_.get());
  std::vector<accepted> all;
  {
    const std::lock_guard lock(given_mutex_);
    all.swap(given_);
  }
  for (accepted& a : all) adopt(std::move(a.fd), static_cast<rank>(a.from), a.rail, false);
}

// `ours`: we made it, and it is in the epoll set already.
void tcp_endpoint::adopt(unique_fd fd, rank peer, int rail, bool ours) noexcept {
  peer_state& p = state_of(peer);
  if (p.is == peer_state::life::lost) return;
  const bool choosing = chooses(peer, ours);
  if (choosing ? ours && !choose(fd, peer, rail) : is_needless(peer, rail, ours))
    return turn_away(std::move(fd));
  tune(fd.get(), timeout_ms_);
  auto c = std::make_unique<connection>(std::move(fd), peer, rail, ours, shared_);
  if (ours) c->watched = EPOLLERR;  // anything but what it is to be now
  c->moved_at_ms = now_ms();
  if (choosing) c->choose();
  conns_.push_back(std::move(c));
  if (conns_.size() <= few)
    watch(*conns_.back(), 0);
  else
    for (const auto& each : conns_) watch(*each, EPOLLIN);
  if (p.is == peer_state::life::ending) {
    p.grace_until_ms = 0;
    take_last_words(*conns_.back());
  } else if (choosing) {
    use(*conns_.back());
  }
}

// Who talks to itself has both ends, and chooses at the one that it made.
bool tcp_endpoint::chooses(rank peer, bool ours) const noexcept {
  return device_.self() < peer || (device_.self() == peer && ours);
}

// Says on a fresh connection that it is the one. False: another was chosen before. Any thread.
bool tcp_endpoint::choose(const unique_fd& fd, rank peer, int rail) {
  const std::lock_guard lock(given_mutex_);
  if (!chosen_.emplace(peer, rail).second) return false;
  std::array<std::byte, common_header> frame;
  write_chosen(frame.data());
  (void)transmit(fd.get(), frame);  // there is room; if it is broken, reading will tell
  return true;
}

// There is a chosen one, or, from whoever chooses, one more than it may offer.
bool tcp_endpoint::is_needless(rank peer, int rail, bool ours) const noexcept {
  const peer_state& p = *peers_[static_cast<std::size_t>(peer)];
  if (p.out[static_cast<std::size_t>(rail)] != nullptr && peer != device_.self()) return true;
  return std::ranges::any_of(conns_, [&](const auto& c) {
    return c->peer() == peer && c->rail() == rail && c->ours() == ours;
  });
}

// What else there is between the two on this rail is not needed any more. Nothing has travelled on
// it: only a chosen connection carries frames.
void tcp_endpoint::use(connection& c) noexcept {
  c.used = true;
  ++shared_.room_made;
  if (c.peer() == device_.self() && !c.ours()) return;  // the other end of what is used already
  peer_state& p = state_of(c.peer());
  if (p.is == peer_state::life::known) p.out[static_cast<std::size_t>(c.rail())] = &c;
  if (c.peer() == device_.self()) return;
  const auto rivals = [&](rank peer, int rail) { return peer == c.peer() && rail == c.rail(); };
  std::erase_if(attempts_, [&](const auto& a) { return rivals(a->peer, a->rail); });
  for (const auto& other : conns_) {
    if (other.get() == &c || !rivals(other->peer(), other->rail())) continue;
    other->spare = other->exhausted = has_spares_ = true;
  }
}

void tcp_endpoint::drop_spares() noexcept {
  if (!std::exchange(has_spares_, false)) return;
  std::erase_if(stalled_, [](const connection* c) { return c->spare; });
  std::erase_if(conns_, [](const auto& c) { return c->spare; });
}

// Only reads from now on, and not for ever.
void tcp_endpoint::take_last_words(connection& c) noexcept {
  c.mute = true;
  c.read_limit = c.received + last_words_bytes;
  c.out().discard();
  if (!c.exhausted && !std::exchange(c.stalled, true)) stalled_.push_back(&c);
}

// From here on the peer only gets to finish what it had said, on a connection that it has chosen
// and that is still being proven too.
void tcp_endpoint::begin_loss(rank peer, const std::string& why) noexcept {
  peer_state& p = state_of(peer);
  if (p.is != peer_state::life::known) return;
  p.is = peer_state::life::ending;
  p.why = why;
  ending_.push_back(peer);
  if (p.out[0] == nullptr) {
    p.grace_until_ms = now_ms() + grace_ms;
    set_timer(timer_.get(), grace_ms);
  }
  p.out.fill(nullptr);
  for (const auto& c : conns_) {
    if (c->peer() == peer) take_last_words(*c);
  }
}

bool tcp_endpoint::in_grace(rank peer) const noexcept {
  const std::uint64_t until = peers_[static_cast<std::size_t>(peer)]->grace_until_ms;
  return until != 0 && now_ms() < until;
}

bool tcp_endpoint::said_all(rank peer) const noexcept {
  return std::ranges::all_of(conns_,
                             [&](const auto& c) { return c->peer() != peer || c->exhausted; });
}

// True when there is nothing to do for the ending peers but to wait for the timer.
bool tcp_endpoint::losses_wait() const noexcept {
  return std::ranges::all_of(ending_, [&](rank peer) { return said_all(peer) && in_grace(peer); });
}

void tcp_endpoint::finish_losses() noexcept {
  if (ending_.empty()) return;
  std::erase_if(ending_, [&](rank peer) {
    if (!said_all(peer) || in_grace(peer)) return false;
    close_all(peer);
    lost_.push_back(peer);
    return true;
  });
  set_timer(timer_.get(), losses_wait() && !ending_.empty() ? grace_ms : 0);
}

// Whatever is in flight to the peer ends, and its connections close.
void tcp_endpoint::close_all(rank peer) noexcept {
  peer_state& p = state_of(peer);
  p.is = peer_state::life::lost;
  p.out.fill(nullptr);
  const auto of_peer = [&](const connection* c) { return c->peer() == peer; };
  std::erase_if(dirty_, of_peer);
  std::erase_if(stalled_, of_peer);
  std::erase_if(attempts_, [&](const auto& a) { return a->peer == peer; });
  for (auto& c : conns_) {
    if (c->peer() != peer) continue;
    c->end_all();
    c->release().reset();
    buried_.push_back(std::move(c));
  }
  std::erase(conns_, nullptr);
}

void tcp_endpoint::drop(rank peer) noexcept {
  if (!valid(peer) || state_of(peer).is == peer_state::life::lost) return;
  std::erase(ending_, peer);
  close_all(peer);
}

void tcp_endpoint::maintain() noexcept {
  const std::uint64_t now = now_ms();
  for (std::size_t i = 0; i < attempts_.size();) {
    if (now - attempts_[i]->since_ms <= timeout_ms_) {
      ++i;
      continue;
    }
    const std::unique_ptr<attempt> late = std::move(attempts_[i]);
    attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(i));
    late->tries = most_tries;
    give_up(*late, fmt::format("it did not answer a connection for {} s", timeout_ms_ / 1000));
  }
  for (const auto& c : conns_) {
    const std::uint64_t moved = c->received + c->out().written;
    if (!c->waits_for_peer() || moved != c->moved_before) {
      c->moved_before = moved;
      c->moved_at_ms = now;
    } else if (now - c->moved_at_ms > timeout_ms_) {
      begin_loss(c->peer(),
                 fmt::format("nothing moved on a connection to it for {} s", timeout_ms_ / 1000));
    }
  }
}

}  // namespace heddle::transport::tcp
