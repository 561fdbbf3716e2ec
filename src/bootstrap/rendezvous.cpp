// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/clock.h"
#include "base/error.h"
#include "base/host_id.h"
#include "base/log.h"
#include "bootstrap/meeting_session.h"
#include "bootstrap/rendezvous_host.h"
#include "bootstrap/rendezvous_protocol.h"
#include "bootstrap/secret_file.h"

namespace heddle::bootstrap {

using namespace rendezvous_protocol;

namespace {

constexpr std::uint64_t connect_limit_ms = 3000;
constexpr std::uint64_t between_tries_ms = 200;
constexpr std::uint64_t word_after_s = 5;
/// Rank 0 has the limit too, and can say who is missing: it comes first.
constexpr std::uint64_t beyond_limit_ms = 5000;

/// Why a connection was not made, in words.
struct attempt {
  unique_fd socket;
  std::string problem;
};

attempt connect_to(const addrinfo& where) {
  unique_fd socket(::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {{}, errno_text(errno)};
  if (connect(socket.get(), where.ai_addr, where.ai_addrlen) == 0) return {std::move(socket), {}};
  if (errno != EINPROGRESS) return {{}, errno_text(errno)};
  patience limit(connect_limit_ms);
  std::array<pollfd, 1> done{{{socket.get(), POLLOUT, 0}}};
  while (!limit.wait(done))
    if (limit.over()) return {{}, "no answer"};
  int problem = 0;
  socklen_t length = sizeof problem;
  (void)getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &length);
  if (problem != 0) return {{}, errno_text(problem)};
  return {std::move(socket), {}};
}

/// The first address of the name that answers. Names may come to be while we try.
attempt connect_once(const meeting_place& where) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int problem = getaddrinfo(where.host.c_str(), where.port.c_str(), &wanted, &found))
    return {{}, gai_strerror(problem)};
  attempt last;
  for (const addrinfo* one = found; one != nullptr && !last.socket; one = one->ai_next)
    last = connect_to(*one);
  freeaddrinfo(found);
  return last;
}

/// Any rank but 0: its link to rank 0.
class rendezvous_guest {
 public:
  rendezvous_guest(const meeting_place& where, std::uint64_t limit_ms)
      : where_(where), limit_ms_(limit_ms == 0 ? 0 : limit_ms + beyond_limit_ms) {
    patience limit(limit_ms);
    find_host(limit);
    const frame welcome = receive(frame_kind::welcome, patience(limit_ms_));
    if (welcome.payload.size() != nonce_.size()) fail("rank 0's welcome is malformed");
    std::ranges::copy(welcome.payload, nonce_.begin());
  }

  gathered exchange(std::span<const std::byte> mine) {
    link_->send(message(frame_kind::exchange, mine));
    frame answer = receive(frame_kind::everything, patience(limit_ms_));
    auto all = gathered::decode(std::move(answer.payload), static_cast<std::size_t>(where_.size));
    if (!all) fail("rank 0's answer is malformed");
    return std::move(*all);
  }
  [[nodiscard]] const secret_bytes& nonce() const noexcept { return nonce_; }

 private:
  /// Until somebody there says hello: what accepts and hangs up is a proxy without a server.
  void find_host(patience& limit) {
    bool told = false;
    for (;;) {
      tried_ns_ = now_ns();
      attempt now = connect_once(where_);
      if (now.socket) {
        open_link(std::move(now.socket));
        while (!link_->greeted() && link_->problem().empty() && !limit.over()) wait(limit);
        if (link_->greeted()) return;
        now.problem = link_->problem().empty() ? "who listens there says nothing"
                                               : "who listens there: " + link_->problem();
      }
      if (limit.over())
        fail(
            "nobody but this rank meets at {} after {} s (HEDDLE_JOIN_TIMEOUT_MS; {}): is rank 0 "
            "started, and is this its host's address (HEDDLE_RENDEZVOUS)?",
            place(), limit.waited_s(), now.problem);
      if (limit.waited_s() >= word_after_s && !std::exchange(told, true))
        log::warn(log::subsystem::job, "rank {} waits for rank 0 at {}: {}", where_.rank, place(),
                  now.problem);
      (void)limit.wait({}, between_tries_ms);
    }
  }

  void open_link(unique_fd socket) {
    link_.emplace(std::move(socket), where_.secret, sealed_link::side::guest,
                  most_from_host(where_.size));
    link_->send(message(frame_kind::join, encode(request{where_.rank, where_.size})));
    link_->pump();
  }

  void wait(patience& limit) {
    std::array<pollfd, 1> news{{{link_->fd(), link_->events(), 0}}};
    (void)limit.wait(news);
    link_->pump();
  }

  frame receive(frame_kind wanted, patience limit) {
    for (;;) {
      if (const auto said = link_->next()) {
        auto got = parse(*said);
        proven_ = true;
        if (got && got->kind == frame_kind::failed) fail("{}", protocol::decode_text(got->payload));
        if (!got || got->kind != wanted) fail("rank 0 speaks another version of Heddle");
        return std::move(*got);
      }
      if (!link_->problem().empty()) {
        if (!may_be_crowded_out()) refuse();
        find_host(limit);
      }
      if (limit.over())
        fail("rank 0 at {} has said nothing for {} s: is it stopped?", place(), limit.waited_s());
      wait(limit);
    }
  }

  /// A proof that rank 0 has read and does not believe, it answers sooner: then this rank is told.
  [[nodiscard]] bool may_be_crowded_out() const noexcept {
    return !proven_ && now_ns() - tried_ns_ >= proof_limit_ns;
  }

  [[noreturn]] void refuse() const {
    if (proven_) fail("rank 0 at {} went away while the ranks joined", place());
    fail(
        "rank 0 at {} has turned this rank away ({}): is HEDDLE_SECRET_FILE the same on both, and "
        "is that rank 0 of this job?",
        place(), link_->problem());
  }
  [[nodiscard]] std::string place() const { return fmt::format("{}:{}", where_.host, where_.port); }

  meeting_place where_;
  std::uint64_t limit_ms_;
  std::optional<sealed_link> link_;
  std::uint64_t tried_ns_ = 0;  ///< when the connection was asked for
  bool proven_ = false;
  secret_bytes nonce_{};
};

template <class Side>
class rendezvous_session final : public meeting_session {
 public:
  rendezvous_session(const meeting_place& where, std::uint64_t limit_ms)
      : meeting_session({.rank = where.rank, .size = where.size}),
        side_(std::in_place, where, limit_ms) {
    known().local_ranks = ranks_here();
    known().secret = derived(where.secret, side_->nonce());
  }

  /// The port and the connections are needed no more.
  void joined() override { side_.reset(); }
  /// The others find this rank lost.
  void abort(int, std::string_view) noexcept override {}

 private:
  gathered meet(std::span<const std::byte> mine) override {
    if (!side_) fail("this session was for joining only");
    return side_->exchange(mine);
  }
  int ranks_here() {
    const char* given = std::getenv("HEDDLE_HOST");
    const std::string here = this_host(given == nullptr ? "" : given).id;
    const auto bytes = std::as_bytes(std::span(here));
    const auto all = gather(bytes);
    int found = 0;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      if (std::ranges::equal(all[rank], bytes)) ++found;
    return found;
  }

  std::optional<Side> side_;
};

std::string needed(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0')
    fail("HEDDLE_RENDEZVOUS is set, and {} is not: each process needs both", variable);
  return text;
}

int number_in(const char* variable) {
  const std::string text = needed(variable);
  int number = -1;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || stop != text.data() + text.size() || number < 0)
    fail("{}={} is no number from 0 on", variable, text);
  return number;
}

void read_address(const std::string& text, meeting_place& where) {
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  if (colon != std::string::npos) {
    where.port = text.substr(colon + 1);
    where.host = text.substr(0, colon);
    const char* end = where.port.data() + where.port.size();
    if (std::from_chars(where.port.data(), end, port).ptr != end) port = 0;
  }
  if (where.host.starts_with('[') && where.host.ends_with(']'))
    where.host = where.host.substr(1, where.host.size() - 2);
  else if (where.host.find(':') != std::string::npos)
    port = 0;  // whose last number is the port?
  if (port == 0 || where.host.empty())
    fail("HEDDLE_RENDEZVOUS={} is no address: write host:port, or [IPv6 address]:port", text);
}

}  // namespace

meeting_place place_from_environment() {
  meeting_place where;
  read_address(needed(rendezvous_variable), where);
  where.rank = number_in(protocol::rank_variable);
  where.size = number_in(protocol::size_variable);
  if (where.size < 1 || where.size > protocol::max_ranks || where.rank >= where.size)
    fail("HEDDLE_RANK={} in a job of HEDDLE_SIZE={}: ranks are 0 to HEDDLE_SIZE-1, of {} at most",
         where.rank, where.size, protocol::max_ranks);
  where.secret = read_secret_file(needed(secret_file_variable));
  return where;
}

std::unique_ptr<session> join_rendezvous(const meeting_place& where, std::uint64_t limit_ms) {
  return in_context("join by rendezvous", [&]() -> std::unique_ptr<session> {
    if (where.rank == 0)
      return std::make_unique<rendezvous_session<rendezvous_host>>(where, limit_ms);
    return std::make_unique<rendezvous_session<rendezvous_guest>>(where, limit_ms);
  });
}

std::unique_ptr<session> join_rendezvous(std::uint64_t limit_ms) {
  return join_rendezvous(in_context("join by rendezvous", [] { return place_from_environment(); }),
                         limit_ms);
}

}  // namespace heddle::bootstrap
