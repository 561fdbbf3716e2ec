// SPDX-License-Identifier: BSD-3-Clause
#include "run/boot_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "bootstrap/passed_file.h"
#include "bootstrap/table_writer.h"
#include "exit_status.h"
#include "run/failure.h"

namespace heddle::tools {

namespace protocol = bootstrap::protocol;
using protocol::frame_kind;

namespace {

/// How long after a lost connection the process's own end may still tell the cause.
constexpr std::uint64_t cause_wait_ms = 200;
/// A smaller answer costs less than a file does.
constexpr std::size_t least_shared = 16 * 1024;

std::string without_goodbye(int rank) {
  return fmt::format("rank {} has ended without leaving the job", rank);
}

}  // namespace

boot_server::boot_server(event_loop& loop, extent size, const std::array<std::byte, 32>& secret,
                         meeting_place& meetings)
    : loop_(loop),
      size_(size),
      secret_(secret),
      meetings_(meetings),
      inherited_(static_cast<std::size_t>(size.job)),
      links_(static_cast<std::size_t>(size.job)) {}

unique_fd boot_server::add_rank(int rank) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    fail_errno(errno, "make a socket pair");
  inherited_[static_cast<std::size_t>(rank)].reset(ends[0]);
  unique_fd theirs(ends[1]);
  loop_.watch(ends[0], EPOLLIN, [this, rank] { accept_joins(rank); });
  return theirs;
}

void boot_server::accept_joins(int rank) {
  using result_t = protocol::join_request::result_t;
  unique_fd& socket = inherited_[static_cast<std::size_t>(rank)];
  for (;;) {
    protocol::join_request request = protocol::receive_join(socket.get());
    if (request.result == result_t::nothing) return;
    if (request.result == result_t::ended) {
      loop_.forget(socket.get());
      socket.reset();
      return;
    }
    if (request.result == result_t::no_room)
      meetings_.abort(rank, failed,
                      "the launcher has no descriptors left to talk to it: raise the limit of open "
                      "files, ulimit -n");
    if (request.result == result_t::joined) welcome(rank, std::move(request.connection));
  }
}

void boot_server::welcome(int rank, unique_fd socket) {
  if (link(rank)) serve(rank);  // the one before may have said goodbye already, or died
  if (link(rank) && is_lost(rank)) hang_up(rank, without_goodbye(rank));
  const auto round = meetings_.join(rank);
  if (!round)
    return refuse(
        std::move(socket),
        fmt::format("rank {} has joined already: two of its processes cannot both be it", rank));
  const int fd = socket.get();
  connection& made = link(rank).emplace();
  made.socket = std::move(socket);
  made.round = *round;
  const protocol::welcome hello{rank, size_.job, size_.here, secret_};
  made.out.push_back({std::make_shared<const meeting_rounds::blob>(
      protocol::encode(frame_kind::welcome, protocol::encode(hello)))});
  loop_.watch(fd, EPOLLIN, [this, rank] { serve(rank); });
  flush(rank);
}

void boot_server::refuse(unique_fd socket, const std::string& why) const {
  const auto bytes = protocol::encode(frame_kind::failed, protocol::encode_text(why));
  // A fresh socket has room for it; a peer that is gone does not need it.
  (void)!send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void boot_server::serve(int rank) {
  if (!link(rank)) return;
  switch (read_frames(rank)) {
    case input::more:
      break;
    case input::left:
      hang_up(rank, fmt::format("rank {} has left the job", rank));
      break;
    case input::broken:
      hang_up(rank, fmt::format("rank {} does not speak this launcher's protocol", rank));
      break;
    case input::ended:
      lost(rank);
      break;
  }
  flush(rank);
}

boot_server::input boot_server::read_frames(int rank) {
  connection& c = *link(rank);
  std::array<std::byte, 16384> buffer;
  for (;;) {
    const ssize_t got = recv(c.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return input::more;
    if (got <= 0) return input::ended;
    c.parser.push(std::span(buffer).first(static_cast<std::size_t>(got)));
    while (auto frame = c.parser.next()) {
      if (frame->kind == frame_kind::leave) return input::left;
      if (!handle(rank, std::move(*frame))) return input::broken;
    }
    if (c.parser.broken()) return input::broken;
  }
}

bool boot_server::handle(int rank, protocol::frame frame) {
  connection& c = *link(rank);
  if (frame.kind == frame_kind::joining) {
    const auto limit_ms = protocol::decode_limit(frame.payload);
    if (limit_ms) meetings_.begin(rank, c.round, *limit_ms);
    return limit_ms.has_value();
  }
  if (frame.kind == frame_kind::abort) {
    const auto end = protocol::decode_ending(frame.payload);
    if (end) meetings_.abort(rank, end->status, end->why);
    return end.has_value();
  }
  if (frame.kind == frame_kind::joined) {
    meetings_.joined(rank);
    return true;
  }
  const bool collective = frame.kind == frame_kind::exchange ||
                          (frame.kind == frame_kind::barrier && frame.payload.empty());
  if (!collective || c.waiting) return false;
  c.waiting = true;
  meetings_.call(rank, c.round, frame.kind, std::move(frame.payload));
  return true;
}

void boot_server::hang_up(int rank, const std::string& why) {
  const int round = link(rank)->round;
  loop_.forget(link(rank)->socket.get());
  link(rank).reset();
  meetings_.leave(rank, round, why);
}

// The socket ended without a goodbye: most likely the process died, and how is known in a moment.
// Behind a script it is not; the script's next program may join before.
void boot_server::lost(int rank) {
  loop_.forget(link(rank)->socket.get());
  loop_.after(cause_wait_ms, [this, rank, round = link(rank)->round] {
    if (!link(rank) || link(rank)->round != round) return;
    hang_up(rank, without_goodbye(rank));
  });
}

void boot_server::process_ended(int rank, const std::string& why) {
  if (inherited_[static_cast<std::size_t>(rank)]) accept_joins(rank);
  if (link(rank)) serve(rank);  // what it had called before its end counts
  meetings_.end(rank, why);
  if (link(rank)) hang_up(rank, why);
}

void boot_server::deliver(const meeting_rounds::reply& reply) {
  auto& to = link(reply.rank);
  if (!to || to->round != reply.round) return;
  if (reply.answers()) to->waiting = false;
  to->out.push_back(shared_by_ranks(reply.bytes));
  flush(reply.rank);
}

/// What all ranks have given is large, and every rank of this host is to have it: as one file that
/// they map. As it is where that cannot be.
boot_server::outgoing boot_server::shared_by_ranks(
    const std::shared_ptr<const meeting_rounds::blob>& answer) {
  const bool everything = protocol::kind_of(*answer) == frame_kind::everything;
  if (!everything || answer->size() < least_shared) return {answer};
  if (answer == answer_) return as_file_;
  try {
    bootstrap::table_file table;
    table.append(std::span(*answer).subspan(protocol::head_bytes));
    as_file_ = {
        std::make_shared<const meeting_rounds::blob>(protocol::encode(frame_kind::everything, {})),
        std::make_shared<const unique_fd>(table.seal())};
    answer_ = answer;
    return as_file_;
  } catch (const error&) {
    return {answer};
  }
}

void boot_server::flush(int rank) {
  if (!link(rank)) return;
  connection& c = *link(rank);
  while (!c.out.empty()) {
    const outgoing& next = c.out.front();
    const auto rest = std::span<const std::byte>(*next.bytes).subspan(c.sent);
    const bool with_file = next.file != nullptr && c.sent == 0;
    const ssize_t sent =
        with_file ? bootstrap::send_with_file(c.socket.get(), rest, next.file->get(), MSG_DONTWAIT)
                  : send(c.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) break;  // full: EPOLLOUT calls again; gone: reading finds out
    c.sent += static_cast<std::size_t>(sent);
    if (c.sent < c.out.front().bytes->size()) continue;
    c.out.pop_front();
    c.sent = 0;
  }
  if (is_lost(rank)) return;
  const std::uint32_t events = c.out.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
  loop_.watch(c.socket.get(), events, [this, rank] { serve(rank); });
}

}  // namespace heddle::tools
