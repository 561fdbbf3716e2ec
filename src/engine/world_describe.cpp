// world_describe.cpp - a world in words, for `heddle info` and for logs.
#include <fmt/format.h>
#include <heddle/counters.h>
#include <heddle/info.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "engine/progress_mode.h"
#include "engine/world_core.h"

namespace heddle::engine {
namespace {

std::string device_line(const std::string& name, const transport::traits& t) {
  std::string text = fmt::format("  {:<9} usable, messages up to {} bytes", name, t.max_message);
  if (t.lanes < static_cast<std::size_t>(max_lanes)) text += fmt::format(", {} lanes", t.lanes);
  if (transport::owns_atomics(t)) text += ", atomics are its own: the CPU's do not see them";
  return text + '\n';
}

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

}  // namespace

/// A few lines for the log: what is otherwise asked for when something is wrong.
void world_core::tell_of_start() const {
  using enum log::subsystem;
  log::info(job, "rank {} of {} on {}, process {}, heddle {}; {} ranks on {} hosts", self(), size(),
            host(self()), getpid(), version(), size(), hosts_.hosts());
  if (!log::enabled(wire, log::level::info) && !log::enabled(progress, log::level::info)) return;
  std::string ways;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const auto peers = std::ranges::count(first_routes_->route, static_cast<std::uint8_t>(d));
    if (peers != 0)
      ways += fmt::format("{}{} by {}", ways.empty() ? "" : ", ", peers, device_names_[d]);
  }
  log::info(wire, "ways to the ranks: {}", ways);
  log::info(progress,
            "mode {}, {} of Heddle's own threads, {} cores for this rank, awake for {} us",
            name_of(mode_of(config_)), executors_.size() + (team_ ? config_.executors : 0), cores_,
            spin_ns_ / 1000);
}

std::string world_core::describe() {
  std::string text = fmt::format("rank {} of {} on {}\nbackends\n", self(), size(), host(self()));
  for (const opened_device& b : backends_) {
    text += b.device ? device_line(b.name, b.device->describe()) + b.device->details()
                     : fmt::format("  {:<9} not usable: {}\n", b.name, b.unusable);
  }
  text += "routes\n";
  constexpr int most = 64;
  for (rank peer = 0; peer < size() && peer < most; ++peer) {
    text += fmt::format("  to rank {:<5} on {:<20} {}\n", peer, host(peer), route(peer));
  }
  if (size() > most) text += fmt::format("  ... and {} more ranks\n", size() - most);
  text += fmt::format("limits\n  {} lanes, {} regions, {} operations in flight per lane\nlanes\n",
                      max_lanes, memory::region_table::slots, config_.records);
  for_each_lane([&](lane_core& lane) { text += lane_line(lane) + offload_line(lane); });
  return text + describe_progress();
}

std::string world_core::metrics() {
  std::vector<lane_counters> lanes;
  std::vector<peer_counters> peers;
  for_each_lane([&](lane_core& lane) {
    lane.count(lanes.emplace_back());
    (void)lane.questions().count(peers);  // false: told of without
  });
  return prometheus_text(lanes, peers);
}

std::string world_core::describe_progress() const {
  std::string text =
      fmt::format("progress {}\n  awake for {} us before a sleep{}\n", name_of(mode_of(config_)),
                  spin_ns_ / 1000, config_.spin_us == automatic ? " (HEDDLE_SPIN_US=auto)" : "");
  for (std::size_t i = 0; i < executors_.size(); ++i) {
    const executor& e = *executors_[i];
    text += fmt::format("  executor {} {}, woken {} times ({} by threads), {} ticks\n", i,
                        e.core() < 0 ? "on any core" : fmt::format("on core {}", e.core()),
                        e.wakes(), e.rings(), e.ticks());
  }
  if (team_)
    text += fmt::format("  {} idle helpers, woken {} times, hurried {} times\n", config_.executors,
                        team_->wakes(), team_->boosts());
  return text;
}

std::string world_core::route(rank peer) const {
  if (peer < 0 || peer >= size()) return "";
  const auto found = std::ranges::find(devices_, &device_to(peer));
  return device_names_[static_cast<std::size_t>(found - devices_.begin())];
}

std::string world_core::host(rank peer) const {
  return peer >= 0 && peer < size() ? std::string(hosts_.name_of(hosts_.host_of(peer))) : "";
}

int world_core::host_number(rank peer) const noexcept {
  return peer >= 0 && peer < size() ? hosts_.host_of(peer) : -1;
}

}  // namespace heddle::engine
