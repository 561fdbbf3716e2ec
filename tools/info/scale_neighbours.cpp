// SPDX-License-Identifier: BSD-3-Clause
#include "info/scale_neighbours.h"

#include <memory>
#include <utility>
#include <vector>

#include "bootstrap/host_circle.h"
#include "bootstrap/store_session.h"
#include "bootstrap/store_tree.h"

namespace heddle::tools {

using bootstrap::host_circle;

namespace {

constexpr std::uint64_t limit_ms = 60'000;
constexpr std::size_t frame_head = 8, introduction_bytes = 36;

}  // namespace

// One after the other, in the order in which a leader hands out.
host_traffic follow(const scale_job& job, const std::string& name, lockstep& beside) {
  std::vector<std::pair<int, std::unique_ptr<host_circle>>> members;
  host_traffic said;
  beside.let_ahead();  // who is there first leads
  const int host = job.measured_host;
  for (int rank = job.first_of(host) + 1; rank < job.end_of(host); ++rank) {
    const bootstrap::job mine{.rank = rank, .size = job.ranks};
    members.emplace_back(rank, std::make_unique<host_circle>(name, mine, limit_ms));
  }
  beside.meet();
  for (const auto& [rank, circle] : members) {
    circle->close({});
    said.to_leader_bytes += frame_head + introduction_bytes;
    said.from_leader_bytes += frame_head + introduction_bytes;
  }
  said.to_leader = said.from_leader = members.size();
  const int fences = bootstrap::store_tree({}, job.ranks, bootstrap::store_group).fences();
  while (const auto leaders = beside.hear()) {
    for (const auto& [rank, circle] : members) {
      const auto mine = gift_of(job, rank, *leaders);
      circle->give(mine);
      ++said.to_leader;
      said.to_leader_bytes += frame_head + mine.size();
    }
    for (int fence = 0; fence < fences; ++fence) beside.meet();
    for (const auto& [rank, circle] : members) {
      (void)circle->take();
      said.from_leader_bytes += frame_head;  // and a descriptor
      ++said.from_leader;
    }
  }
  return said;
}

void lead(const scale_job& job, const std::string& name, lockstep& beside) {
  store_traffic uncounted;
  auto store = std::make_unique<model_store>(job, name, &beside, uncounted);
  model_store& launcher = *store;
  const bootstrap::job mine{.rank = job.first_of(job.measured_host), .size = job.ranks};
  const auto session = bootstrap::join_by_store(std::move(store), mine, limit_ms);
  while (const auto followers = beside.hear()) {
    launcher.give(*followers);
    (void)session->exchange(*followers);
  }
}

}  // namespace heddle::tools
