// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/host_circle.h"

#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/abstract_address.h"
#include "base/error.h"
#include "bootstrap/circle_link.h"
#include "bootstrap/passed_file.h"
#include "bootstrap/secret_file.h"

namespace heddle::bootstrap {

using protocol::frame_kind;

namespace {

/// For a rank that has said who it is as soon as it could.
constexpr std::uint64_t proof_limit_ms = 10'000;
/// The leader has the limit too, and knows who is missing: it comes first.
constexpr std::uint64_t beyond_limit_ms = 5'000;
constexpr std::size_t name_bytes = 16;

/// Jobs' names are of any length.
abstract_address address_of(const std::string& job) {
  const secret_bytes hash = derived({}, std::as_bytes(std::span(job)));
  std::array<char, 2 * name_bytes + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), reinterpret_cast<const unsigned char*>(hash.data()),
                 name_bytes);
  return abstract_address(std::string("heddle-circle-") + hex.data());
}

/// Who says it, and that it knows the job's secret.
struct introduction {
  std::int32_t rank = -1;
  secret_bytes proof{};
};
static_assert(sizeof(introduction) == 36);

introduction introduce(int rank, frame_kind as, const secret_bytes& secret) {
  const std::array<std::int32_t, 2> said{rank, static_cast<std::int32_t>(as)};
  return {rank, derived(secret, std::as_bytes(std::span(said)))};
}

/// The rank of who has sent `message`; -1: it does not know the secret.
int proven(const std::optional<protocol::frame>& message, frame_kind as,
           const secret_bytes& secret) {
  introduction said;
  if (!message || message->kind != as || message->payload.size() != sizeof said) return -1;
  std::memcpy(&said, message->payload.data(), sizeof said);
  const secret_bytes proof = introduce(said.rank, as, secret).proof;
  return sodium_memcmp(proof.data(), said.proof.data(), proof.size()) == 0 ? said.rank : -1;
}

void say_who(circle_link& to, int rank, frame_kind as, const secret_bytes& secret) {
  const introduction me = introduce(rank, as, secret);
  to.send(as, std::as_bytes(std::span(&me, 1)));
}

}  // namespace

host_circle::host_circle(const std::string& name, const job& mine, std::uint64_t limit_ms)
    : rank_(mine.rank),
      size_(static_cast<std::size_t>(mine.size)),
      limit_ms_(limit_ms),
      leader_(mine.rank) {
  enter(name);
}

host_circle::~host_circle() = default;

/// A full backlog makes a circle of one too: nobody is waited for.
void host_circle::enter(const std::string& name) {
  const abstract_address where = address_of(name);
  unique_fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return;
  if (bind(socket.get(), where.get(), where.length()) == 0) {
    if (listen(socket.get(), SOMAXCONN) == 0) listener_ = std::move(socket);
    return;
  }
  // Between its bind and its listen the leader refuses: that is over in a moment.
  for (int tries = 0; tries < 100; ++tries) {
    if (connect(socket.get(), where.get(), where.length()) == 0) {
      to_leader_ =
          std::make_unique<circle_link>(std::move(socket), protocol::max_blob_bytes, limit_ms_);
      return;
    }
    if (errno != ECONNREFUSED) return;
    (void)patience(0).wait({}, 10);
  }
}

void host_circle::close(const secret_bytes& secret) {
  if (listener_) (void)admit(secret);
  listener_.reset();
  std::ranges::sort(members_, {}, [](const auto& m) { return m.first; });
  if (to_leader_) join_leader(secret);
}

std::vector<int> host_circle::admit(const secret_bytes& secret) {
  std::vector<int> entered;
  for (;;) {
    unique_fd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket && errno == EINTR) continue;
    if (!socket) return entered;
    auto link =
        std::make_unique<circle_link>(std::move(socket), protocol::max_blob_bytes, limit_ms_);
    if (!link->is_ours()) continue;
    const int who = proven(link->receive(patience(proof_limit_ms)), frame_kind::join, secret);
    if (who < 0 || static_cast<std::size_t>(who) >= size_) continue;
    say_who(*link, rank_, frame_kind::welcome, secret);
    members_.emplace_back(who, std::move(link));
    entered.push_back(who);
  }
}

/// Whom the leader turned away leads itself.
void host_circle::join_leader(const secret_bytes& secret) {
  if (to_leader_->is_ours()) {
    say_who(*to_leader_, rank_, frame_kind::join, secret);
    const std::uint64_t limit_ms = limit_ms_ == 0 ? 0 : limit_ms_ + beyond_limit_ms;
    const int who = proven(to_leader_->receive(patience(limit_ms)), frame_kind::welcome, secret);
    if (who >= 0) {
      leader_ = who;
      return;
    }
  }
  to_leader_.reset();
}

host_circle::gifts host_circle::collect(std::span<const std::byte> mine) {
  gifts all{{rank_, blob(mine.begin(), mine.end())}};
  for (auto& [who, link] : members_) {
    auto given = link->receive(patience(limit_ms_));
    if (!given || given->kind != frame_kind::exchange)
      fail("rank {} on this host has gone, or has not come within {} s (HEDDLE_JOIN_TIMEOUT_MS)",
           who, limit_ms_ / 1000);
    all.emplace_back(who, std::move(given->payload));
  }
  return all;
}

void host_circle::hand_out(int table) {
  for (auto& [who, link] : members_) link->send_file(frame_kind::everything, table);
}

void host_circle::give_up(const std::string& why) noexcept {
  try {
    for (auto& [who, link] : members_) link->send(frame_kind::failed, protocol::encode_text(why));
  } catch (const std::bad_alloc&) {
    members_.clear();  // they see that
  }
}

void host_circle::give(std::span<const std::byte> mine) {
  to_leader_->send(frame_kind::exchange, mine);
}

gathered host_circle::take() {
  const std::uint64_t limit_ms = limit_ms_ == 0 ? 0 : limit_ms_ + beyond_limit_ms;
  auto answer = to_leader_->receive(patience(limit_ms));
  if (!answer)
    fail("rank {}, which speaks for this host, has gone or is stopped: see what it says", leader_);
  if (answer->kind == frame_kind::failed) fail("{}", protocol::decode_text(answer->payload));
  const unique_fd table = to_leader_->take_file();
  if (!table && answer->kind == frame_kind::everything) fail("{}", no_room_for_table);
  auto all = gathered::map(table.get(), size_);
  if (!all || answer->kind != frame_kind::everything)
    fail("what rank {}, which speaks for this host, has handed out is malformed", leader_);
  return std::move(*all);
}

}  // namespace heddle::bootstrap
