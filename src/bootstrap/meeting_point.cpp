// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/meeting_point.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/host_id.h"
#include "bootstrap/host_circle.h"
#include "bootstrap/host_gifts.h"
#include "bootstrap/meeting_point_guest.h"
#include "bootstrap/meeting_point_host.h"
#include "bootstrap/meeting_session.h"
#include "bootstrap/secret_file.h"
#include "bootstrap/table_writer.h"

namespace heddle::bootstrap {

namespace {

/// A leader tells of ranks of its host once nobody has come for so long: many come at once.
constexpr std::uint64_t lull_ms = 5;

/// Any rank but 0: with the others of its host, of which one speaks with rank 0 for all.
class meeting_point_rank {
 public:
  meeting_point_rank(const meeting_point& where, std::uint64_t limit_ms)
      : size_(static_cast<std::size_t>(where.size)),
        circle_(name_of_circle(where), {.rank = where.rank, .size = where.size}, limit_ms) {
    if (circle_.fd() < 0) circle_.close(where.secret);
    if (!circle_.leads()) return;
    try {
      zero_.emplace(where, limit_ms);
      gather_host(where.secret);
    } catch (const error& why) {
      circle_.close(where.secret);
      circle_.give_up(why.what());
      throw;
    }
  }

  gathered exchange(std::span<const std::byte> mine) {
    if (zero_) return lead(mine);
    circle_.give(mine);
    return circle_.take();
  }

 private:
  /// Nobody knows how many ranks are here, but when rank 0 has heard of all, none is missing.
  void gather_host(const secret_bytes& secret) {
    std::vector<int> untold;
    do {
      const auto entered = circle_.admit(secret);
      untold.insert(untold.end(), entered.begin(), entered.end());
      if (entered.empty() && !untold.empty()) zero_->speak_for(std::exchange(untold, {}));
    } while (!zero_->hears_start(circle_.fd(), untold.empty() ? 1000 : lull_ms));
    circle_.close(secret);
  }

  gathered lead(std::span<const std::byte> mine) {
    try {
      table_file table;
      table.append(zero_->exchange(host_gifts::encode(circle_.collect(mine))));
      const unique_fd file = table.seal();
      auto all = gathered::map(file.get(), size_);
      if (!all) fail("rank 0's answer is malformed");
      circle_.hand_out(file.get());
      return std::move(*all);
    } catch (const error& why) {
      circle_.give_up(why.what());
      zero_->give_up(why.what());
      throw;
    }
  }

  /// Whoever has another secret, or means another job, is in another one.
  static std::string name_of_circle(const meeting_point& where) {
    const std::string job = fmt::format("rendezvous {} {}", where.port, where.size);
    const secret_bytes name = derived(where.secret, std::as_bytes(std::span(job)));
    return {reinterpret_cast<const char*>(name.data()), name.size()};
  }

  const std::size_t size_;
  host_circle circle_;
  std::optional<meeting_point_guest> zero_;  // a leader's
};

template <class Side>
class meeting_point_session final : public meeting_session {
 public:
  meeting_point_session(const meeting_point& where, std::uint64_t limit_ms)
      : meeting_session({.rank = where.rank, .size = where.size}),
        side_(std::in_place, where, limit_ms) {
    meet_first(where.secret);
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

  /// Each gives a random number, of which rank 0's tells this job from others with its secret, and
  /// which host it is on.
  void meet_first(const secret_bytes& secret) {
    const char* given = std::getenv("HEDDLE_HOST");
    const std::string here = this_host(given == nullptr ? "" : given).id;
    const auto host = std::as_bytes(std::span(here));
    const secret_bytes nonce = random_secret();
    blob mine(nonce.begin(), nonce.end());
    mine.insert(mine.end(), host.begin(), host.end());
    const auto all = gather(mine);
    known().local_ranks = 0;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].size() < nonce.size()) fail("rank {} speaks another version of Heddle", rank);
      if (std::ranges::equal(all[rank].subspan(nonce.size()), host)) ++known().local_ranks;
    }
    known().secret = derived(secret, all[0].first(nonce.size()));
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

void read_address(const std::string& text, meeting_point& where) {
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

meeting_point place_from_environment() {
  meeting_point where;
  read_address(needed(meeting_point_variable), where);
  where.rank = number_in(protocol::rank_variable);
  where.size = number_in(protocol::size_variable);
  if (where.size < 1 || where.size > protocol::max_ranks || where.rank >= where.size)
    fail("HEDDLE_RANK={} in a job of HEDDLE_SIZE={}: ranks are 0 to HEDDLE_SIZE-1, of {} at most",
         where.rank, where.size, protocol::max_ranks);
  where.secret = read_secret_file(needed(secret_file_variable));
  return where;
}

std::unique_ptr<session> join_at_meeting_point(const meeting_point& where, std::uint64_t limit_ms) {
  return in_context("join by rendezvous", [&]() -> std::unique_ptr<session> {
    if (where.rank == 0)
      return std::make_unique<meeting_point_session<meeting_point_host>>(where, limit_ms);
    return std::make_unique<meeting_point_session<meeting_point_rank>>(where, limit_ms);
  });
}

std::unique_ptr<session> join_at_meeting_point(std::uint64_t limit_ms) {
  return join_at_meeting_point(
      in_context("join by rendezvous", [] { return place_from_environment(); }), limit_ms);
}

}  // namespace heddle::bootstrap
