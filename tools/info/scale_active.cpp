// SPDX-License-Identifier: BSD-3-Clause
#include "info/scale_active.h"

#include <fmt/format.h>
#include <heddle/lane.h>
#include <heddle/world.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/all_settings.h"
#include "base/error.h"
#include "bootstrap/meeting_point.h"
#include "engine/world_core.h"
#include "info/counted_memory.h"
#include "info/scale_worker.h"

namespace heddle::tools {
namespace {

/// Tables and pools grow in steps, which the first peers take.
constexpr int first_peers = 4, all_peers = 12;
constexpr int lanes_each = 2;
constexpr int rounds_each = 4;
constexpr std::size_t small = 64, large = 256 * 1024;
constexpr std::uint64_t join_limit_ms = 60'000;

/// A port that nobody listens at. Another process may take it before rank 0 does: then it says so.
std::string free_port() {
  const unique_fd any(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof here;
  if (bind(any.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      getsockname(any.get(), reinterpret_cast<sockaddr*>(&here), &length) != 0)
    fail_errno(errno, "find a free port");
  return fmt::format("{}", ntohs(here.sin_port));
}

/// A rank of this job, with its lanes.
class member {
 public:
  explicit member(const bootstrap::meeting_point& where)
      : world_(engine::make_world(bootstrap::join_at_meeting_point(where, join_limit_ms),
                                  transport::read_all_settings())) {
    for (int i = 0; i < lanes_each; ++i)
      lanes_.push_back(std::make_unique<lane>(world_, lane_options{.number = i}));
  }
  [[nodiscard]] world& job() noexcept { return world_; }
  /// The one that begins is heard first.
  void talk(int peer, bool begins) {
    for (const auto& over : lanes_)
      for (int i = 0; i < rounds_each; ++i)
        for (const std::size_t bytes : {small, large}) {
          const auto what = std::span(data_).first(bytes);
          if (begins) done(over->send(peer, tag{1}, what));
          done(over->recv(peer, tag{1}, what).code);
          if (!begins) done(over->send(peer, tag{1}, what));
        }
  }

 private:
  static void done(status s) {
    if (s != status::done) fail("the ranks of this host cannot talk: {}", name_of(s));
  }
  std::vector<std::byte> data_ = std::vector<std::byte>(large);
  world world_;
  std::vector<std::unique_ptr<lane>> lanes_;
};

active_cost measure_here(const bootstrap::meeting_point& where) {
  begin_memory_count();
  member me(where);
  for (int peer = 1; peer <= first_peers; ++peer) me.talk(peer, true);
  const memory_count before = count_memory();
  for (int peer = first_peers + 1; peer <= all_peers; ++peer) me.talk(peer, true);
  const memory_count after = count_memory();
  active_cost cost;
  cost.peers = all_peers;
  constexpr double more = (all_peers - first_peers) * lanes_each;
  const std::int64_t rings = after.in_blocks - before.in_blocks;
  cost.ring_bytes = static_cast<double>(rings) / more;
  cost.ring_blocks = static_cast<double>(after.blocks - before.blocks) / more;
  cost.bytes = static_cast<double>(after.now - before.now - rings) / more;
  const std::string wire = me.job().route(1);
  wire.copy(cost.wire.data(), cost.wire.size() - 1);
  me.job().barrier();
  return cost;
}

}  // namespace

active_cost measure_active() {
  bootstrap::meeting_point where{.host = "127.0.0.1",
                                 .port = free_port(),
                                 .rank = 0,
                                 .size = all_peers + 1,
                                 .secret = bootstrap::random_secret()};
  const worker<active_cost> measured([&] { return measure_here(where); });
  std::vector<std::unique_ptr<worker<bool>>> others;
  while (++where.rank < where.size)
    others.push_back(std::make_unique<worker<bool>>([&] {
      member me(where);
      me.talk(0, false);
      me.job().barrier();
      return true;
    }));
  return measured.result();
}

}  // namespace heddle::tools
