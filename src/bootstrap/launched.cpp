// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launched.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "bootstrap/launcher_protocol.h"
#include "bootstrap/passed_file.h"
#include "bootstrap/send_all.h"

namespace heddle::bootstrap {
namespace {

using protocol::frame;
using protocol::frame_kind;

constexpr std::uint64_t word_after_s = 5;
/// The launcher has the limit too, and can say who is missing: it comes first.
constexpr std::uint64_t beyond_limit_s = 5;

/// The private socket to the launcher: whole frames out and in, blocking.
class launcher_link {
 public:
  /// `process` is the launcher's, for people.
  launcher_link(unique_fd socket, pid_t process) : socket_(std::move(socket)), process_(process) {}

  /// Answers may be as long as what so many ranks give. Before, as what one does.
  void expect_ranks(int count) noexcept {
    parser_.limit(protocol::max_everything(static_cast<std::size_t>(count)));
  }

  /// From now on receive() waits at most so long for each sign of the launcher; 0: for ever.
  void limit_silence(std::uint64_t seconds) noexcept { limit_s_ = seconds; }

  void send(frame_kind kind, std::span<const std::byte> payload) {
    // What the launcher said before it hung up tells more than EPIPE does: receive() finds it.
    (void)send_all(socket_.get(), protocol::encode(kind, payload));
  }

  /// The answer, which must be of `wanted` kind. Throws error when it is `failed`.
  frame receive(frame_kind wanted) {
    frame answer = next();
    while (answer.kind == frame_kind::starting) answer = next();
    return checked(std::move(answer), wanted);
  }

  /// The descriptor that came with the last answer, if one did.
  [[nodiscard]] unique_fd take_file() noexcept { return std::move(file_); }
  /// One came for which this process may have had no room.
  [[nodiscard]] bool has_missed_file() const noexcept { return missed_file_; }

  void say_goodbye() noexcept {
    try {
      const auto bytes = protocol::encode(frame_kind::leave, {});
      (void)!::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    } catch (const std::bad_alloc&) {
      return;  // the socket's end says nearly the same
    }
  }

 private:
  frame next() {
    for (;;) {
      if (auto got = parser_.next()) return std::move(*got);
      if (parser_.broken()) fail("the launcher speaks another protocol: use its own version");
      read_more();
    }
  }

  static frame checked(frame got, frame_kind wanted) {
    if (got.kind == frame_kind::failed) fail("{}", protocol::decode_text(got.payload));
    if (got.kind != wanted)
      fail("the launcher answered out of turn (kind {})", static_cast<int>(got.kind));
    return got;
  }

  /// Seconds are counted, not measured: a process that was stopped has not waited.
  void await_bytes() {
    for (std::uint64_t waited_s = 0;;) {
      pollfd answer{socket_.get(), POLLIN, 0};
      const int ready = poll(&answer, 1, 1000);
      if (ready > 0) return;
      if (ready < 0) continue;  // EINTR: poll has no other reason here
      ++waited_s;
      if (!greeted_ && waited_s == word_after_s)
        log::warn(log::subsystem::job,
                  "waiting for the launcher (heddle run, process {}), which does not answer",
                  process_);
      if (waited_s == limit_s_)
        fail("the launcher (heddle run, process {}) has said nothing for {} s: is it stopped?",
             process_, limit_s_);
    }
  }

  void read_more() {
    await_bytes();
    std::array<std::byte, 16384> buffer;
    const auto [got, no_room] = receive_with_file(socket_.get(), buffer, file_);
    missed_file_ |= no_room;
    if (got < 0 && errno == EINTR) return;
    if (got <= 0)
      fail("the launcher (heddle run) {}",
           greeted_ ? "went away" : "hung up without an answer: see what it says");
    greeted_ = true;
    parser_.push(std::span(buffer).first(static_cast<std::size_t>(got)));
  }

  unique_fd socket_;
  pid_t process_;
  protocol::frame_parser parser_{protocol::max_everything(1)};
  std::uint64_t limit_s_ = 0;
  unique_fd file_;
  bool missed_file_ = false;
  bool greeted_ = false;  ///< it has said something already
};

class launched_session final : public session {
 public:
  launched_session(launcher_link link, const job& mine)
      : link_(std::move(link)), job_(mine), owner_(getpid()) {}
  ~launched_session() override {
    if (getpid() == owner_) link_.say_goodbye();  // a forked child must not leave for its parent
  }

  [[nodiscard]] const job& info() const noexcept override { return job_; }

  gathered exchange(std::span<const std::byte> mine) override {
    return in_context("exchange addresses", [&] {
      protocol::check_blob(mine);
      link_.send(frame_kind::exchange, mine);
      frame answer = link_.receive(frame_kind::everything);
      const auto size = static_cast<std::size_t>(job_.size);
      const unique_fd table = link_.take_file();
      if (link_.has_missed_file()) fail("{}", no_room_for_table);
      auto all = answer.payload.empty() ? gathered::map(table.get(), size)
                                        : gathered::decode(std::move(answer.payload), size);
      if (!all) fail("the launcher's answer is malformed");
      return std::move(*all);
    });
  }

  void barrier() override {
    in_context("barrier", [&] {
      link_.send(frame_kind::barrier, {});
      (void)link_.receive(frame_kind::released);
    });
  }

  void abort(int status, std::string_view why) noexcept override {
    try {
      link_.send(frame_kind::abort, protocol::encode(protocol::ending{status, std::string(why)}));
    } catch (const std::bad_alloc&) {
      return;  // this process ends with the status, and the launcher sees that
    }
  }

  void joined() override {
    link_.send(frame_kind::joined, {});
    link_.limit_silence(0);
  }

 private:
  launcher_link link_;
  job job_;
  pid_t owner_;
};

// The inherited socket, by number. It stays open, so that this process can join again later, but
// does not pass to programs this one starts: they are not the rank.
int inherited_socket(const std::string& text) {
  constexpr const char* cure =
      "it was set by `heddle run` for another process; unset HEDDLE_BOOT_FD to run alone";
  int fd = -1;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, fd);
  if (problem != std::errc{} || stop != end || fd < 0)
    fail("HEDDLE_BOOT_FD={} is no descriptor: {}", text, cure);
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_SEQPACKET)
    fail("HEDDLE_BOOT_FD={} is not the launcher's socket: {}", text, cure);
  (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}

/// Whoever made the socket pair.
pid_t launcher_behind(int inherited) {
  ucred maker{};
  socklen_t length = sizeof maker;
  return getsockopt(inherited, SOL_SOCKET, SO_PEERCRED, &maker, &length) == 0 ? maker.pid : 0;
}

launcher_link connect_to_launcher(int inherited) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail_errno(errno, "make a socket pair");
  unique_fd mine(ends[0]), theirs(ends[1]);
  if (const int problem = protocol::send_join(inherited, theirs.get()); problem != 0)
    fail_errno(problem, "the launcher (heddle run) does not answer");
  return {std::move(mine), launcher_behind(inherited)};
}

}  // namespace

std::unique_ptr<session> join_launched(const std::string& fd_text, std::uint64_t limit_ms) {
  return in_context("join the job of heddle run", [&]() -> std::unique_ptr<session> {
    launcher_link link = connect_to_launcher(inherited_socket(fd_text));
    if (limit_ms != 0) link.limit_silence(limit_ms / 1000 + beyond_limit_s);
    const frame answer = link.receive(frame_kind::welcome);
    const auto hello = protocol::decode_welcome(answer.payload);
    if (!hello) fail("the launcher's welcome is malformed");
    link.expect_ranks(hello->size);
    link.send(frame_kind::joining, protocol::encode_limit(limit_ms));
    const job mine{hello->rank, hello->size, hello->local_ranks, hello->secret};
    return std::make_unique<launched_session>(std::move(link), mine);
  });
}

}  // namespace heddle::bootstrap
