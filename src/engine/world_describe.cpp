// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_describe.h"

#include <fmt/format.h>
#include <heddle/counters.h>
#include <heddle/info.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/progress_mode.h"
#include "engine/world_core.h"

namespace heddle::engine {
namespace {

std::string lane_line(const lane_core& lane) {
  lane_counters counted;
  lane.count(counted);
  std::string text = fmt::format("  lane {:<3}", lane.number());
  for (const counter_row& row : lane_counter_table())
    text += fmt::format("{}{} {}", &row == lane_counter_table().data() ? " " : ", ", row.name,
                        row.in(counted));
  return text + '\n';
}

/// What the cost model has learned of what the lane's users leave for others.
std::string offload_line(const lane_core& lane) {
  const offload_model::inputs m = lane.driver().model().now();
  std::string submits;
  for (std::size_t i = 0; i < m.submit_ns.size(); ++i)
    if (m.submit_ns[i] != 0)
      submits += fmt::format(" {}K {} ns{}", std::size_t{1} << i, m.submit_ns[i],
                             (m.verdicts >> i & 1) != 0 ? " (left)" : "");
  return fmt::format(
      "           leaving costs {} ns, waking {} ns, pick-up after {} ns, computing {} ns, helped "
      "{} %, submitting{}\n",
      m.leave_ns, m.wake_ns, m.pick_up_ns, m.compute_ns, m.helped_percent,
      submits.empty() ? " not sampled" : submits);
}

std::string settings_lines(const world_core& world) {
  std::string text;
  for (const transport::given_setting& s : world.given_settings())
    text += fmt::format("  {} {} ({})\n", s.name, s.value, s.origin);
  return text.empty() ? "" : "settings\n" + text;
}

}  // namespace

void tell_of_start(world_core& world) {
  using enum log::subsystem;
  log::info(job, "rank {} of {} on {}, process {}, heddle {}; {} ranks on {} hosts", world.self(),
            world.size(), world.network().host(world.self()), getpid(), version(), world.size(),
            world.network().hosts().hosts());
  if (!log::enabled(wire, log::level::info) && !log::enabled(progress, log::level::info)) return;
  log::info(wire, "ways to the ranks: {}", world.network().ways());
  log::info(progress,
            "mode {}, {} of Heddle's own threads, {} cores for this rank, awake for {} us",
            name_of(mode_of(world.config())), world.progress().threads(), world.network().cores(),
            world.progress().spin_ns() / 1000);
}

std::string describe(world_core& world) {
  std::string text = fmt::format("rank {} of {} on {}\nbackends\n", world.self(), world.size(),
                                 world.network().host(world.self()));
  text += world.network().describe();
  text += "routes\n";
  constexpr int most = 64;
  for (rank peer = 0; peer < world.size() && peer < most; ++peer) {
    text += fmt::format("  to rank {:<5} on {:<20} {}\n", peer, world.network().host(peer),
                        world.network().route(peer));
  }
  if (world.size() > most) text += fmt::format("  ... and {} more ranks\n", world.size() - most);
  text += fmt::format("limits\n  {} lanes, {} regions, {} operations in flight per lane\nlanes\n",
                      max_lanes, memory::region_table::slots, world.config().records);
  world.lanes().for_each([&](lane_core& lane) { text += lane_line(lane) + offload_line(lane); });
  return text + world.progress().describe() + settings_lines(world);
}

std::string metrics(world_core& world) {
  std::vector<lane_counters> lanes;
  std::vector<peer_counters> peers;
  world.lanes().for_each([&](lane_core& lane) {
    lane.count(lanes.emplace_back());
    (void)lane.questions().count(peers);  // false: told of without
  });
  return prometheus_text(lanes, peers);
}

}  // namespace heddle::engine
