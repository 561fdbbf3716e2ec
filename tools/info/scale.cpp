// SPDX-License-Identifier: BSD-3-Clause
#include "info/scale.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "backends/all_settings.h"
#include "base/error.h"
#include "engine/world_core.h"
#include "info/counted_memory.h"
#include "info/scale_active.h"
#include "info/scale_worker.h"

namespace heddle::tools {
namespace {

constexpr std::uint64_t limit_ms = 60'000;
constexpr std::size_t frame_head = 8, introduction_bytes = 36;
/// A smaller job may not show what a peer costs: tables grow in steps.
constexpr int many_ranks = 16'384;

/// Passes on what its rank gives to those who have to make up the others' part.
class watched_session final : public bootstrap::session {
 public:
  watched_session(std::unique_ptr<bootstrap::session> real, model_store& launcher, lockstep* beside,
                  join_cost& cost)
      : real_(std::move(real)), launcher_(launcher), beside_(beside), cost_(cost) {}

  [[nodiscard]] const bootstrap::job& info() const noexcept override { return real_->info(); }
  bootstrap::gathered exchange(std::span<const std::byte> mine) override {
    launcher_.give(mine);
    if (beside_ != nullptr) beside_->tell(mine);
    auto all = real_->exchange(mine);
    cost_.host_messages += 2;  // a member's; a leader's are counted by its members
    cost_.host_bytes += 2 * frame_head + mine.size();
    const auto table = static_cast<std::int64_t>(all.encoded().size());
    cost_.table_bytes = std::max(cost_.table_bytes, table);
    return all;
  }
  void barrier() override { (void)exchange({}); }  // as session does
  void joined() override { real_->joined(); }
  void abort(int status, std::string_view why) noexcept override { real_->abort(status, why); }
  [[nodiscard]] bool meets_after_joining() const noexcept override {
    return real_->meets_after_joining();
  }

 private:
  std::unique_ptr<bootstrap::session> real_;
  model_store& launcher_;
  lockstep* beside_;
  join_cost& cost_;
};

settings settings_of_model() {
  settings config = transport::read_all_settings();
  if (config.host.empty()) config.host = "model";  // all of the model's hosts have our addresses
  return config;
}

join_cost join(const scale_job& job, int rank, const std::string& name, lockstep* beside) {
  using clock = std::chrono::steady_clock;
  join_cost cost;
  cost.host_messages = 2;  // who it is, and the answer
  cost.host_bytes = 2 * (frame_head + introduction_bytes);
  const settings config = settings_of_model();
  auto store = std::make_unique<model_store>(job, name, beside, cost.launcher);
  model_store& launcher = *store;
  begin_memory_count();
  const auto begin = clock::now();
  const bootstrap::job mine{.rank = rank, .size = job.ranks};
  auto session = std::make_unique<watched_session>(
      bootstrap::join_by_store(std::move(store), mine, limit_ms), launcher, beside, cost);
  const auto world = engine::make_world(std::move(session), config);
  cost.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  cost.most_bytes = count_memory().most;
  cost.kept_bytes = count_memory().now;
  for (int lane = 1; lane < many_lanes; ++lane) (void)world->lanes().open(lane, false);
  cost.kept_by_lanes = count_memory().now;
  return cost;
}

struct socket_pair {
  unique_fd mine, theirs;
};

socket_pair connected() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    fail_errno(errno, "make a socket pair");
  return {unique_fd(ends[0]), unique_fd(ends[1])};
}

std::string name_of_circle(const char* role) {
  static int made = 0;  // what is left of the one before is in nobody's way
  return fmt::format("scale {} {} {}", role, getpid(), ++made);
}

using row = std::pair<const char*, std::string (*)(const join_cost&)>;

std::string mebibytes(double bytes) {
  return fmt::format("{:.1f} MiB", bytes / (1 << 20));
}

constexpr std::array<row, 14> rows{{
    {"put into the launcher's store",
     [](const join_cost& c) { return fmt::format("{}", c.launcher.puts); }},
    {"got from it", [](const join_cost& c) { return fmt::format("{}", c.launcher.gets); }},
    {"its fences", [](const join_cost& c) { return fmt::format("{}", c.launcher.fences); }},
    {"bytes put",
     [](const join_cost& c) { return mebibytes(static_cast<double>(c.launcher.put_bytes)); }},
    {"bytes got",
     [](const join_cost& c) { return mebibytes(static_cast<double>(c.launcher.got_bytes)); }},
    {"messages on its host", [](const join_cost& c) { return fmt::format("{}", c.host_messages); }},
    {"bytes of these",
     [](const join_cost& c) { return mebibytes(static_cast<double>(c.host_bytes)); }},
    {"memory, at most while joining",
     [](const join_cost& c) { return mebibytes(static_cast<double>(c.most_bytes)); }},
    {"table of its host meanwhile",
     [](const join_cost& c) { return mebibytes(static_cast<double>(c.table_bytes)); }},
    {"memory of its world",
     [](const join_cost& c) { return mebibytes(static_cast<double>(c.kept_bytes)); }},
    {"the same with 48 lanes",
     [](const join_cost& c) { return mebibytes(static_cast<double>(c.kept_by_lanes)); }},
    {"an idle peer of it", [](const join_cost& c) { return fmt::format("{:.1f} B", c.idle_peer); }},
    {"the same with 48 lanes",
     [](const join_cost& c) { return fmt::format("{:.1f} B", c.idle_peer_by_lanes); }},
    {"time here", [](const join_cost& c) { return fmt::format("{:.2f} s", c.seconds); }},
}};

/// Rank 0's host does most of the work for others.
struct measured {
  join_cost first_leader;
  std::optional<join_cost> leader, member;
  std::optional<meeting_point_traffic> meeting_point;
  active_cost active;
};

/// Half as large, or larger by many_ranks: what differs is for idle peers.
scale_job another_size(scale_job job) {
  job.ranks = job.ranks >= 2 * many_ranks ? job.ranks / 2 : job.ranks + many_ranks;
  return job;
}

measured measure_joins(scale_job job) {
  measured found;
  found.first_leader = measure_leader(job);
  job.measured_host = job.hosts() / 2;
  if (job.hosts() > 1) found.leader = measure_leader(job);
  const int ranks_there = job.end_of(job.measured_host) - job.first_of(job.measured_host);
  if (ranks_there > 1) found.member = measure_member(job);
  return found;
}

/// What each of `more` ranks has added to the world of a rank like that.
void compare(join_cost& here, const join_cost& there, int more) {
  here.idle_peer = static_cast<double>(here.kept_bytes - there.kept_bytes) / more;
  here.idle_peer_by_lanes = static_cast<double>(here.kept_by_lanes - there.kept_by_lanes) / more;
}

measured measure(scale_job job) {
  measured found = measure_joins(job);
  const scale_job other = another_size(job);
  const measured there = measure_joins(other);
  const int more = job.ranks - other.ranks;
  compare(found.first_leader, there.first_leader, more);
  if (found.leader && there.leader) compare(*found.leader, *there.leader, more);
  if (found.member && there.member) compare(*found.member, *there.member, more);
  found.active = measure_active();
  job.measured_host = job.hosts() / 2;
  if (job.ranks > 1) found.meeting_point = measure_meeting_point(job);
  return found;
}

void print_table(const scale_job& job, const measured& found) {
  fmt::print(
      "Joining a job of {} ranks on {} hosts, by a launcher's store; all but one simulated\n",
      job.ranks, job.hosts());
  const auto line = [&](const char* name, const auto& text_of) {
    fmt::print("  {:30}{:>16}{:>16}{:>14}\n", name, text_of("rank 0's leader", &found.first_leader),
               text_of("another leader", found.leader ? &*found.leader : nullptr),
               text_of("a rank led", found.member ? &*found.member : nullptr));
  };
  line("",
       [](const char* who, const join_cost* c) { return std::string(c != nullptr ? who : ""); });
  for (const auto& [name, text] : rows)
    line(name, [tell = text](const char*, const join_cost* c) {
      return c != nullptr ? tell(*c) : std::string();
    });
  fmt::print("At most {} bytes are allowed of an idle peer, by this job and one of {} ranks\n",
             idle_peer_limit, another_size(job).ranks);
  fmt::print(
      "An active peer takes {:.0f} bytes on each lane, of {} allowed, over {} to {} ranks "
      "here; its rings are mapped, or in large blocks: {:.0f} with {:.0f} bytes\n",
      found.active.bytes, active_peer_limit, found.active.wire.data(), found.active.peers,
      found.active.ring_blocks, found.active.ring_bytes);
  if (!found.meeting_point) return;
  const meeting_point_traffic& said = *found.meeting_point;
  fmt::print(
      "Without a launcher rank 0 hears {} messages of each host ({}), and answers with {} ({})\n",
      said.to_zero, mebibytes(static_cast<double>(said.to_zero_bytes)), said.from_zero,
      mebibytes(static_cast<double>(said.from_zero_bytes)));
}

nlohmann::ordered_json as_json(const join_cost& c) {
  return {{"puts", c.launcher.puts},
          {"gets", c.launcher.gets},
          {"fences", c.launcher.fences},
          {"put_bytes", c.launcher.put_bytes},
          {"got_bytes", c.launcher.got_bytes},
          {"host_messages", c.host_messages},
          {"host_bytes", c.host_bytes},
          {"most_memory_bytes", c.most_bytes},
          {"table_bytes", c.table_bytes},
          {"kept_memory_bytes", c.kept_bytes},
          {"kept_memory_bytes_48_lanes", c.kept_by_lanes},
          {"idle_peer_bytes", c.idle_peer},
          {"idle_peer_bytes_48_lanes", c.idle_peer_by_lanes},
          {"seconds", c.seconds}};
}

nlohmann::ordered_json as_json(const meeting_point_traffic& said) {
  return {{"to_rank_0", said.to_zero},
          {"from_rank_0", said.from_zero},
          {"bytes_to_rank_0", said.to_zero_bytes},
          {"bytes_from_rank_0", said.from_zero_bytes}};
}

/// Until the rank that makes its world has gone.
bool keep_company(const bootstrap::meeting_point& where) {
  try {
    const auto session = bootstrap::join_at_meeting_point(where, limit_ms);
    for (;;) (void)session->exchange({});
  } catch (const error&) {
    return true;
  }
}

}  // namespace

join_cost measure_leader(const scale_job& job) {
  const std::string name = name_of_circle("leader");
  const int rank = job.first_of(job.measured_host);
  if (job.end_of(job.measured_host) - rank == 1) {
    const worker<join_cost> alone([&] {
      join_cost cost = join(job, rank, name, nullptr);
      cost.host_messages = cost.host_bytes = 0;
      return cost;
    });
    return alone.result();
  }
  socket_pair ends = connected();
  std::optional<worker<join_cost>> measured;
  std::optional<worker<host_traffic>> others;
  measured.emplace([&, end = ends.mine.get()] {
    ends.theirs.reset();
    lockstep beside{unique_fd(end)};
    return join(job, rank, name, &beside);
  });
  ends.mine.reset();
  others.emplace([&, end = ends.theirs.get()] {
    lockstep beside{unique_fd(end)};
    return follow(job, name, beside);
  });
  ends.theirs.reset();
  join_cost cost = measured->result();
  const host_traffic said = others->result();
  cost.host_messages = said.to_leader + said.from_leader;
  cost.host_bytes = said.to_leader_bytes + said.from_leader_bytes;
  return cost;
}

join_cost measure_member(const scale_job& job) {
  const std::string name = name_of_circle("member");
  socket_pair ends = connected();
  std::optional<worker<join_cost>> measured;
  std::optional<worker<bool>> leader;
  measured.emplace([&, end = ends.mine.get()] {
    ends.theirs.reset();
    lockstep beside{unique_fd(end)};
    beside.let_ahead();  // who is there first leads
    return join(job, job.end_of(job.measured_host) - 1, name, &beside);
  });
  ends.mine.reset();
  leader.emplace([&, end = ends.theirs.get()] {
    lockstep beside{unique_fd(end)};
    lead(job, name, beside);
    return true;
  });
  ends.theirs.reset();
  const join_cost cost = measured->result();
  (void)leader->result();
  return cost;
}

meeting_point_traffic measure_meeting_point(const scale_job& job) {
  model_zero zero(job);
  const int real = std::max(1, job.first_of(job.measured_host));
  const worker<meeting_point_traffic> model([&] { return zero.serve(real); });
  const worker<bool> measured([&] {
    const auto world = engine::make_world(
        bootstrap::join_at_meeting_point(zero.place_of(real), limit_ms), settings_of_model());
    return true;
  });
  std::vector<std::unique_ptr<worker<bool>>> others;
  for (int rank = real + 1; rank < job.end_of(job.measured_host); ++rank)
    others.push_back(
        std::make_unique<worker<bool>>([&] { return keep_company(zero.place_of(rank)); }));
  (void)measured.result();
  return model.result();
}

void print_scale(const scale_job& job, bool as_data) {
  unsetenv("HEDDLE_SECRET_FILE");  // the model's secret is no secret
  const measured found = measure(job);
  if (!as_data) return print_table(job, found);
  nlohmann::ordered_json all{{"ranks", job.ranks}, {"hosts", job.hosts()}};
  all["first_leader"] = as_json(found.first_leader);
  if (found.leader) all["leader"] = as_json(*found.leader);
  if (found.member) all["member"] = as_json(*found.member);
  if (found.meeting_point) all["rendezvous"] = as_json(*found.meeting_point);
  all["active_peer"] = {{"bytes_per_lane", found.active.bytes},
                        {"ring_blocks_per_lane", found.active.ring_blocks},
                        {"ring_block_bytes_per_lane", found.active.ring_bytes},
                        {"wire", found.active.wire.data()},
                        {"peers", found.active.peers}};
  all["limits"] = {{"idle_peer_bytes", idle_peer_limit},
                   {"active_peer_bytes_per_lane", active_peer_limit}};
  fmt::print("{}\n", all.dump(2));
}

}  // namespace heddle::tools
