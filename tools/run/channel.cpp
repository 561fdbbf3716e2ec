// SPDX-License-Identifier: BSD-3-Clause
#include "run/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace heddle::tools {

using agent_protocol::message;
using agent_protocol::message_kind;

namespace {

constexpr int beats_in_silence = 8;

void make_non_blocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

channel::channel(event_loop& loop, unique_fd in, unique_fd out, handlers to, bool scan)
    : loop_(loop), in_(std::move(in)), out_(std::move(out)), to_(std::move(to)) {
  if (scan) scanner_.emplace();
  make_non_blocking(in_.get());
  make_non_blocking(out_.get());
  loop_.watch(in_.get(), EPOLLIN, [this] { read_some(); });
}

void channel::send(const message& m) {
  send(agent_protocol::encode(m));
}

void channel::send(std::span<const std::byte> bytes) {
  if (!out_) return;
  unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
  if (!write_some()) loop_.watch(out_.get(), EPOLLOUT, [this] { write_some(); });
}

// True when nothing is left to write: all is out, or nobody reads it; reading finds out why.
bool channel::write_some() {
  while (sent_ < unsent_.size()) {
    const ssize_t written = ::write(out_.get(), unsent_.data() + sent_, unsent_.size() - sent_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return false;
    sent_ += written < 0 ? unsent_.size() - sent_ : static_cast<std::size_t>(written);
  }
  unsent_.clear();
  sent_ = 0;
  loop_.forget(out_.get());
  return true;
}

void channel::drain(int ms) {
  pollfd room{out_.get(), POLLOUT, 0};
  while (out_ && !write_some())
    if (poll(&room, 1, ms) == 0) return;
}

void channel::close() {
  *alive_ = false;
  if (in_) loop_.forget(in_.get());
  if (out_) loop_.forget(out_.get());
  in_.reset();
  out_.reset();
}

void channel::read_some() {
  std::array<std::byte, 65536> buffer;
  const ssize_t got = ::read(in_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return end("");
  quiet_beats_ = 0;
  take(std::span(buffer).first(static_cast<std::size_t>(got)));
}

void channel::take(std::span<const std::byte> received) {
  if (!scanner_) {
    parser_.push(received);
    return parse();
  }
  const auto greeting = scanner_->push(received);
  if (!greeting && scanner_->hopeless()) return end("it prints without end, and is no agent");
  if (!greeting) return;
  const std::vector<std::byte> rest(scanner_->rest().begin(), scanner_->rest().end());
  scanner_.reset();
  to_.greeted(*greeting);
  parser_.push(rest);
  parse();
}

void channel::parse() {
  while (in_) {
    auto next = parser_.next();
    if (!next) break;
    if (next->kind != message_kind::ping) to_.take(std::move(*next));
  }
  if (in_ && parser_.broken()) end("it does not speak the agents' protocol");
}

void channel::end(const std::string& why) {
  loop_.forget(in_.get());
  *alive_ = false;
  to_.ended(why);
}

void channel::watch_silence(int seconds, std::function<void()> silent) {
  if (seconds == 0 || closed()) return;
  silent_ = std::move(silent);
  beat_ms_ = static_cast<std::uint64_t>(seconds) * 1000 / beats_in_silence;
  beat();
}

void channel::beat() {
  send(message{message_kind::ping});
  loop_.after(beat_ms_, [this, alive = alive_] {
    if (!*alive) return;
    if (!paused_ && ++quiet_beats_ > beats_in_silence) return silent_();
    beat();
  });
}

}  // namespace heddle::tools
