// SPDX-License-Identifier: BSD-3-Clause
// acceptor.cpp - the listening sockets and the connections that have not proved yet who they are.
#include "backends/tcp/acceptor.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/strangers.h"

namespace heddle::transport::tcp {

acceptor::acceptor(std::vector<unique_fd> listeners, std::uint32_t self, std::uint32_t size,
                   std::span<const std::byte, 32> secret, algorithm_set algorithms,
                   std::uint64_t peer_timeout_ms)
    : self_(self),
      size_(size),
      secret_(secret),
      algorithms_(algorithms),
      peer_timeout_ms_(std::max(peer_timeout_ms, patience_ms)),
      most_(strangers_at_a_time(most_strangers)),
      epoll_(make_epoll()),
      timer_(make_timer()),
      listeners_(std::move(listeners)) {
  (void)watch(epoll_.get(), timer_.get(), 0, EPOLLIN);
  listen_on(true);
}

// Nobody is late whose words lie unread: this thread may have had no core for longer than that, and
// who has said all takes itself for connected.
void acceptor::serve(std::vector<accepted>& out) {
  advance_all(out);
  std::erase_if(strangers_, [this](const stranger& s) { return is_late(s, false); });
  starved_ = false;
  for (const unique_fd& l : listeners_) accept_all(l.get());
  advance_all(out);
  listen_on(has_room() && !starved_);
  set_timer();
}

void acceptor::accept_all(int listener) {
  while (has_room()) {
    unique_fd fd = accept_from(listener);
    if (!fd) {
      starved_ = starved_ || errno == EMFILE || errno == ENFILE || errno == ENOMEM;
      return;
    }
    if (is_full())
      strangers_.erase(
          std::ranges::find_if(strangers_, [this](const auto& s) { return is_late(s, true); }));
    strangers_.push_back(
        {handshake::accept(std::move(fd), self_, size_, secret_, algorithms_), now_ms()});
    strangers_.back().talk.wait_in(epoll_.get());
  }
}

// A rank that was answered sends its proof when it has a core again. Hung up on before, it has to
// begin anew; if the proof is on its way already, it takes itself for connected and loses this
// rank.
std::uint64_t acceptor::allowed_ms(const stranger& s, bool crowded) const noexcept {
  if (s.talk.has_answered()) return crowded ? patience_ms : peer_timeout_ms_;
  return crowded ? grace_ms : patience_ms;
}

bool acceptor::is_late(const stranger& s, bool crowded) const noexcept {
  return now_ms() - s.since_ms >= allowed_ms(s, crowded);
}

bool acceptor::has_room() const noexcept {
  return !is_full() ||
         std::ranges::any_of(strangers_, [this](const auto& s) { return is_late(s, true); });
}

void acceptor::advance_all(std::vector<accepted>& out) {
  for (auto s = strangers_.begin(); s != strangers_.end();) {
    const auto state = s->talk.advance();
    if (state == handshake::state::pending) {
      (s++)->talk.wait_in(epoll_.get());
      continue;
    }
    if (state == handshake::state::done) {
      const hello& h = s->talk.peer();
      // The descriptor lives on, so it has to leave the set by hand.
      (void)watch(epoll_.get(), s->talk.fd(), EPOLLIN, 0);
      out.push_back({s->talk.release(), static_cast<rank>(h.from), h.from_lane, h.to_lane});
    }
    s = strangers_.erase(s);
  }
}

// While there is no room, waiting connections must not keep fd() readable.
void acceptor::listen_on(bool yes) {
  if (std::exchange(listening_, yes) == yes) return;
  for (const unique_fd& l : listeners_)
    (void)watch(epoll_.get(), l.get(), yes ? 0u : EPOLLIN, yes ? EPOLLIN : 0u);
}

// Fires when the first stranger is late, or may make room, or accepting is worth another try.
void acceptor::set_timer() {
  const bool needed = !strangers_.empty() || starved_;
  if (!needed && !timing_) return;
  timing_ = needed;
  const bool crowded = !has_room();
  std::uint64_t wait_ms = starved_ ? grace_ms : patience_ms;
  for (const stranger& s : strangers_) {
    const std::uint64_t age = now_ms() - s.since_ms, limit = allowed_ms(s, crowded);
    wait_ms = std::min(wait_ms, std::max(limit, age + 1) - age);
  }
  tcp::set_timer(timer_.get(), needed ? wait_ms : 0);
}

}  // namespace heddle::transport::tcp
