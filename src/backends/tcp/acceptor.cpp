// acceptor.cpp - the listening sockets and the connections that have not proved yet who they are.
#include "backends/tcp/acceptor.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"

namespace heddle::transport::tcp {
namespace {

timespec to_timespec(std::chrono::nanoseconds t) noexcept {
  timespec out{};
  out.tv_sec = static_cast<time_t>(t.count() / 1'000'000'000);
  out.tv_nsec = static_cast<long>(t.count() % 1'000'000'000);
  return out;
}

}  // namespace

acceptor::acceptor(std::vector<rail_address>& rails, std::uint32_t self, std::uint32_t size,
                   std::span<const std::byte, 32> secret)
    : self_(self),
      size_(size),
      secret_(secret),
      epoll_(make_epoll()),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!timer_) fail_errno(errno, "tcp: timerfd_create");
  for (rail_address& r : rails) listeners_.push_back(listen_at(r));
  watch(timer_.get(), false, false);
  listen_on(true);
}

void acceptor::serve(std::vector<accepted>& out) {
  drop_late();
  advance_all(out);
  starved_ = false;
  for (const unique_fd& l : listeners_) accept_all(l.get());
  advance_all(out);
  listen_on(has_room() && !starved_);
  set_timer();
}

void acceptor::accept_all(int listener) {
  while (make_room()) {
    unique_fd fd = accept_from(listener);
    if (!fd) {
      starved_ = starved_ || errno == EMFILE || errno == ENFILE || errno == ENOMEM;
      return;
    }
    admit(std::move(fd));
  }
}

bool acceptor::has_room() const noexcept {
  return strangers_.size() < most_strangers || clock::now() - strangers_.front().since >= grace;
}

bool acceptor::make_room() noexcept {
  if (!has_room()) return false;
  if (strangers_.size() >= most_strangers) strangers_.pop_front();
  return true;
}

void acceptor::admit(unique_fd fd) {
  watch(fd.get(), false, false);
  strangers_.push_back({handshake::accept(std::move(fd), self_, size_, secret_), clock::now()});
}

void acceptor::advance_all(std::vector<accepted>& out) {
  for (auto s = strangers_.begin(); s != strangers_.end();) {
    const bool wrote = s->talk.waits_to_write();
    const auto state = s->talk.advance();
    if (state == handshake::state::pending) {
      if (s->talk.waits_to_write() != wrote) watch(s->talk.fd(), !wrote, true);
      ++s;
      continue;
    }
    if (state == handshake::state::done) {
      const hello& h = s->talk.peer();
      const accepted who{{}, h.from, h.lane, h.rail};
      // The unique_fd lives on, so it has to leave the set by hand.
      (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, s->talk.fd(), nullptr);
      out.push_back({s->talk.release(), who.from, who.lane, who.rail});
    }
    s = strangers_.erase(s);
  }
}

void acceptor::drop_late() {
  const auto now = clock::now();
  while (!strangers_.empty() && now - strangers_.front().since >= patience) strangers_.pop_front();
}

void acceptor::watch(int fd, bool writing, bool added) {
  epoll_event e{};
  e.events = writing ? EPOLLOUT : EPOLLIN;
  (void)::epoll_ctl(epoll_.get(), added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
}

// While there is no room, waiting connections must not keep fd() readable.
void acceptor::listen_on(bool yes) {
  if (yes == listening_) return;
  for (const unique_fd& l : listeners_) {
    epoll_event e{};
    e.events = EPOLLIN;
    (void)::epoll_ctl(epoll_.get(), yes ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, l.get(), &e);
  }
  listening_ = yes;
}

// Fires when the oldest stranger is late, or may make room, or accepting is worth another try.
void acceptor::set_timer() {
  const bool needed = !strangers_.empty() || starved_;
  if (!needed && !std::exchange(timing_, false)) return;
  timing_ = needed;
  itimerspec when{};
  const auto limit = listening_ ? patience : grace;
  std::chrono::nanoseconds left = limit;
  if (!strangers_.empty() && !starved_) left -= clock::now() - strangers_.front().since;
  if (needed)
    when.it_value =
        to_timespec(std::max<std::chrono::nanoseconds>(left, std::chrono::milliseconds(1)));
  (void)::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

}  // namespace heddle::transport::tcp
