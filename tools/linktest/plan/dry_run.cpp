// SPDX-License-Identifier: BSD-3-Clause
// dry_run.cpp - arithmetic of a run.
#include "linktest/plan/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "linktest/diagnose/of_results.h"
#include "linktest/measure/measure.h"
#include "linktest/plan/plan.h"
#include "linktest/results/results.h"
#include "linktest/sections.h"

namespace heddle::linktest {
namespace {

/// Of one pair in one direction with all sizes, the warm-up included.
double turn_s(const options& o, double& bytes) {
  double seconds = 0;
  for (const std::uint64_t size : o.sizes) {
    const double ways = o.kernel == kernel::uni ? 1 : o.kernel == kernel::bi ? 4 : 2;
    const double times = o.kernel == kernel::uni ? 1 : 2;
    const auto messages = static_cast<double>(o.messages + o.warmup);
    bytes += ways * messages * static_cast<double>(size);
    seconds +=
        times * messages * (assumed_latency_s + static_cast<double>(size) / assumed_bytes_per_s);
  }
  return seconds;
}

/// How often each pair is measured. A confidence interval needs six values, so where more than
/// --repetitions are allowed no pair ends before, unless its budget does.
struct times_measured {
  double least, most;
};
times_measured times_of(const options& o, double turn) {
  constexpr double for_an_interval = 6;
  const auto wanted = static_cast<double>(o.repetitions);
  const auto allowed = static_cast<double>(std::max(o.most_repetitions, o.repetitions));
  const double budget_s = o.budget_ms / 1000 * static_cast<double>(o.sizes.size());
  const double most = std::max(wanted, std::min(allowed, wanted - 1 + std::ceil(budget_s / turn)));
  return {std::clamp(for_an_interval, wanted, most), most};
}

/// Two meetings of all ranks: a tree of messages each.
double meetings_s(int ranks) {
  return 2 * assumed_latency_s * std::bit_width(static_cast<unsigned>(ranks));
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t tebi = std::uint64_t{1} << 40;
  if (bytes < tebi) return format_size(std::max<std::uint64_t>(bytes, 1));
  const double tib = static_cast<double>(bytes) / static_cast<double>(tebi);
  return tib < 1024 ? fmt::format("{:.1f} TiB", tib) : fmt::format("{:.1f} PiB", tib / 1024);
}

std::string duration(double seconds) {
  return seconds < 100    ? fmt::format("{:.3g} s", seconds)
         : seconds < 7200 ? fmt::format("{:.1f} min", seconds / 60)
                          : fmt::format("{:.1f} h", seconds / 3600);
}

/// The most is for pairs whose times spread so much that their interval stays wide.
std::string from_to(const std::string& least, const std::string& most) {
  return least == most ? least : least + " to " + most;
}

/// Nothing is known of the hosts but how many ranks each has: neighbours are together.
options with_halves(options chosen) {
  if (chosen.halves.what != halves_choice::how::by_host) return chosen;
  const int per_host = chosen.search.ranks_per_host;
  const int hosts = (chosen.ranks + per_host - 1) / per_host;
  chosen.halves = {halves_choice::how::by_rank, {}, hosts / 2 * per_host};
  return chosen;
}

cost cost_of_section(const options& of_section, bool both_modes) {
  const options chosen = with_halves(of_section);
  const plan p = plan_of(chosen, chosen.ranks);
  cost out;
  double bytes = 0;
  const double turn = turn_s(chosen, bytes);
  const double from_all = chosen.all_to_all ? 2 * assumed_latency_s * chosen.ranks : 0;
  const auto phases = static_cast<double>(p.phases());
  const double meetings = phases * meetings_s(chosen.ranks) + from_all;
  const times_measured times = times_of(chosen, turn);
  // What goes beyond the repetitions is measured in the last of them, with no further meeting.
  const auto step_s = [&](double measured) {
    return static_cast<double>(chosen.repetitions) * meetings + measured * phases * turn;
  };
  double steps = static_cast<double>(p.steps());
  if (chosen.search.time_s > 0)
    steps = std::clamp(chosen.search.time_s / step_s(times.least), 1.0, steps);
  out.steps = static_cast<std::uint64_t>(steps);
  out.ordered_pairs = p.ordered_pairs() /
                      static_cast<std::uint64_t>(std::max<std::int64_t>(p.steps(), 1)) * out.steps;
  out.seconds = steps * step_s(times.least);
  out.most_seconds = steps * step_s(times.most);
  const double of_all = static_cast<double>(out.ordered_pairs) * bytes;
  out.bytes_sent = static_cast<std::uint64_t>(of_all * times.least);
  out.most_bytes_sent = static_cast<std::uint64_t>(of_all * times.most);
  const std::uint64_t messages = send_bytes(chosen) + receive_bytes(chosen);
  out.plan_bytes = sizeof(plan);
  const std::uint64_t of_peer =
      row::bytes_of_peer(chosen.sizes.size(), static_cast<std::uint64_t>(times.most)) +
      chosen.sizes.size() * sizeof(row_record);
  out.rank_bytes = out.plan_bytes + messages + out.steps * of_peer;
  const std::uint64_t rows = results::bytes(chosen.ranks, out.ordered_pairs, chosen.sizes.size());
  out.file_bytes = rows > most_bytes_of_rows_in_memory ? rows : 0;
  out.report_bytes = out.file_bytes == 0 ? rows : results::bytes(chosen.ranks, 0, 0);
  // The parallel section is compared with the serial one's rows.
  if (both_modes) out.report_bytes *= 2;
  if (chosen.search.diagnose != diagnosis_choice::never)
    out.diagnosis_bytes = out.ordered_pairs * bytes_of_observation;
  out.report_bytes += out.diagnosis_bytes;
  return out;
}

}  // namespace

cost cost_of(const options& chosen) {
  cost out;
  for (const section& one : sections_of(chosen)) {
    const cost own = cost_of_section(one.how, chosen.mode == run_mode::paired);
    ++out.sections;
    out.steps = own.steps;
    out.ordered_pairs = own.ordered_pairs;
    out.seconds += own.seconds;
    out.most_seconds += own.most_seconds;
    out.bytes_sent += own.bytes_sent;
    out.most_bytes_sent += own.most_bytes_sent;
    out.plan_bytes = own.plan_bytes;
    out.rank_bytes = std::max(out.rank_bytes, own.rank_bytes);
    out.report_bytes = std::max(out.report_bytes, own.report_bytes);
    out.diagnosis_bytes = std::max(out.diagnosis_bytes, own.diagnosis_bytes);
    out.file_bytes = std::max(out.file_bytes, own.file_bytes);
  }
  return out;
}

cost cost_of(options chosen, int ranks) {
  chosen.ranks = ranks;
  return cost_of(chosen);
}

std::string lacking_memory(const options& chosen, int ranks, std::uint64_t there) {
  const cost expected = cost_of(chosen, ranks);
  const auto gb = [](std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-9; };
  const std::uint64_t rows = expected.report_bytes - expected.diagnosis_bytes;
  if (rows > there)
    return fmt::format(
        "to gather what {} ranks measure takes rank 0 {:.2g} GB of memory, and its host has "
        "{:.2g}: measure some of the pairs (--pairs K), or start rank 0 on a host with more",
        ranks, gb(rows), gb(there));
  if (expected.report_bytes > there)
    return fmt::format(
        "to look for slow parts among so many pairs of {} ranks takes {:.0f} GB of memory, and "
        "this host has {:.0f}: leave that out (--diagnosis never), or measure some of the pairs "
        "(--pairs K)",
        ranks, gb(expected.report_bytes), gb(there));
  return {};
}

std::string describe_cost(const options& chosen) {
  const cost c = cost_of(chosen);
  const auto n = static_cast<double>(chosen.ranks);
  const int per_host = chosen.search.ranks_per_host;
  const std::uint64_t hosts =
      (static_cast<std::uint64_t>(chosen.ranks) + static_cast<std::uint64_t>(per_host) - 1) /
      static_cast<std::uint64_t>(per_host);
  std::string out;
  const auto line = [&out](std::string_view name, const std::string& value) {
    out += fmt::format("{:<22}{}\n", name, value);
  };
  line("ranks", fmt::format("{} on {} hosts", chosen.ranks, hosts));
  line("steps", fmt::format("{} in each of {} repetitions{}", c.steps, chosen.repetitions,
                            c.sections == 1 ? "" : fmt::format(" of {} sections", c.sections)));
  line("ordered pairs", fmt::format("{} of {:.0f} ({:.4g} %)", c.ordered_pairs, n * (n - 1),
                                    100 * static_cast<double>(c.ordered_pairs) / (n * (n - 1))));
  line("time", fmt::format("{}, if a message takes {:g} us and a host has {:g} GB/s",
                           from_to(duration(c.seconds), duration(c.most_seconds)),
                           assumed_latency_s * 1e6, assumed_bytes_per_s * 1e-9));
  line("bytes sent",
       from_to(bytes_text(c.bytes_sent), bytes_text(c.most_bytes_sent)) + " by all ranks together");
  line("memory of a rank", fmt::format("{}, of which the plan is {}", bytes_text(c.rank_bytes),
                                       bytes_text(c.plan_bytes)));
  line("memory of rank 0", fmt::format("{} more", bytes_text(c.report_bytes)));
  if (c.file_bytes != 0)
    line("file of rank 0",
         bytes_text(c.file_bytes) + " beside the results, until they are written");
  if (hosts > 1 && per_host > 1)
    line("hosts instead",
         fmt::format("one rank on each of {} hosts has {} steps for all pairs of hosts", hosts,
                     hosts - 1 + hosts % 2));
  return out;
}

}  // namespace heddle::linktest
