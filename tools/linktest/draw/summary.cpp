// SPDX-License-Identifier: BSD-3-Clause
// summary.cpp - text made of results.
#include "linktest/draw/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "linktest/draw/heatmap.h"
#include "linktest/draw/layout.h"
#include "linktest/draw/progress.h"
#include "linktest/layer.h"
#include "linktest/results/machine_facts.h"
#include "linktest/results/pair_class.h"
#include "linktest/results/pair_list.h"
#include "linktest/rules/judgement.h"

namespace heddle::linktest {
namespace {

std::string pair_name(const run_facts& facts, int from, int to) {
  const auto host = [&](int r) { return facts.hosts[static_cast<std::size_t>(r)]; };
  return fmt::format("rank {} ({}) -> rank {} ({})", from, host(from), to, host(to));
}

std::string plural(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string some_of(const std::vector<std::string>& hosts) {
  constexpr std::size_t most_named = 8;
  const std::span named(hosts.data(), std::min(hosts.size(), most_named));
  return fmt::format("{}{}", fmt::join(named, ", "), hosts.size() > most_named ? ", ..." : "");
}

/// The ranks' matrix of one size, and the hosts' where there are several.
void add_pictures(std::vector<std::string>& out, const run_facts& facts, const results& all,
                  std::size_t size_index, bool is_time, color_depth depth) {
  const metric what = is_time ? metric::time_median : metric::bandwidth;
  const std::string name = fmt::format("{}, {}", is_time ? "Time per message" : "Bandwidth",
                                       format_size(all.sizes()[size_index]));
  const heatmap_style style{depth, facts.chosen.width};
  const int each = (all.ranks() + most_ranks_of_matrices - 1) / most_ranks_of_matrices;
  const blocks drawn_of = blocks_of(all, size_index, what, each);
  heatmap_input ranks{drawn_of.side, drawn_of.values, drawn_of.states, is_time, name};
  ranks.each = each;
  out.push_back(draw_heatmap(ranks, style));
  const std::vector<std::string> hosts = each_host(facts.hosts);
  if (hosts.size() < 2 || hosts.size() == facts.hosts.size() ||
      hosts.size() > most_ranks_of_matrices)
    return;
  const auto of_hosts = host_matrix(facts, all, hosts, size_index, what);
  const std::string title = fmt::format("{}, medians by host", name);
  const char* const axes = facts.chosen.initiator_receives() ? "across: from host; down: to host"
                                                             : "across: to host; down: from host";
  std::string drawn =
      draw_heatmap({static_cast<int>(hosts.size()), of_hosts, {}, is_time, title, axes}, style);
  constexpr std::size_t most_named = 16;
  std::string names = "hosts:";
  for (std::size_t h = 0; h < std::min(hosts.size(), most_named); ++h)
    names += fmt::format(" {} {}", h, hosts[h]);
  out.push_back(drawn + wrapped(names + (hosts.size() > most_named ? " ..." : ""),
                                facts.chosen.width / 2, 2));
}

std::string reason(const run_facts& facts, pair_state state) {
  if (state != pair_state::lost) return std::string(name_of(state));
  return fmt::format("lost: died, or gave no answer within {} s", facts.chosen.timeout_s);
}

}  // namespace

std::string describe_run(const run_facts& facts) {
  const options& o = facts.chosen;
  const std::vector<std::string> hosts = each_host(facts.hosts);
  std::vector<std::string> sizes;
  for (const std::uint64_t size : o.sizes) sizes.push_back(format_size(size));
  const std::vector<std::string> groups = each_host(facts.groups);
  const std::string of_groups =
      groups.empty() ? ""
                     : fmt::format(" in {} ({})", plural(groups.size(), "group"), some_of(groups));
  const std::string who = fmt::format("{} on {} ({}){} over {}", plural(facts.hosts.size(), "rank"),
                                      plural(hosts.size(), "host"), some_of(hosts), of_groups,
                                      in_words(o.layer, facts.routes));
  const std::string how = fmt::format(
      "kernel {}, op {}, {}, sizes {}, {}, {}", name_of(o.kernel), name_of(o.op), name_of(o.mode),
      fmt::join(sizes, ", "), plural(o.messages, "message"), plural(o.repetitions, "repetition"));
  return wrapped(who, o.width, 2) + wrapped(how, o.width, 2);
}

std::string figures(const run_facts& facts, const results& all) {
  const auto line = [](std::string_view what, const auto& least, const auto& middle,
                       const auto& most) {
    return fmt::format("{:<9}{:>10}{:>10}{:>10}\n", what, least, middle, most);
  };
  std::string out = line("", "min", "median", "max");
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    for (const class_figures& f : figures_by_class(facts, all, s)) {
      out += fmt::format("{}, {}, {}\n", format_size(all.sizes()[s]), name_of(facts, f.what),
                         plural(f.pairs, "pair"));
      out += line("time", format_seconds(f.time.min), format_seconds(f.time.median),
                  format_seconds(f.time.max));
      out += line("bandwidth", format_bandwidth(f.bandwidth.min),
                  format_bandwidth(f.bandwidth.median), format_bandwidth(f.bandwidth.max));
    }
  }
  return out;
}

std::string together(const run_facts& facts) {
  std::string out;
  const char* const what =
      facts.chosen.halves.what == halves_choice::how::none ? "All pairs of a step" : "Bisection";
  for (std::size_t s = 0; s < facts.step_bandwidths.size(); ++s)
    if (const spread& sum = facts.step_bandwidths[s]; sum.min > 0)
      out += fmt::format("{}, {}: {} together in the slowest step, {} in a middle one\n", what,
                         format_size(facts.chosen.sizes[s]), format_bandwidth(sum.min),
                         format_bandwidth(sum.median));
  if (facts.all_to_all)
    out += fmt::format("A byte from all to all, before each step: median {}, 99 % within {}\n",
                       format_seconds(facts.all_to_all->median),
                       format_seconds(facts.all_to_all->p99));
  return out;
}

std::string own_cost(const run_facts& facts, const results& all) {
  constexpr double looks = 50;  // of the clock, that a measurement should take at least
  std::string out;
  for (std::size_t s = 0; s < facts.bare.size(); ++s)
    out += fmt::format("{}{} {} (matrix: {})", out.empty() ? "" : "; ", format_size(all.sizes()[s]),
                       format_seconds(facts.bare[s]), format_seconds(all.at(s, 0, 1).time.median));
  if (out.empty()) return {};
  out = fmt::format("Bare ping-pong, ranks 0 and 1 alone: {}\nA look at the clock takes {}\n", out,
                    format_seconds(facts.clock.look_s));
  const double shortest = facts.bare.front() * 2 * static_cast<double>(facts.chosen.messages);
  if (shortest < looks * std::max(facts.clock.look_s, facts.clock.resolution_s))
    out += fmt::format("A measurement is over in {}: give more --messages than {}\n",
                       format_seconds(shortest), facts.chosen.messages);
  return out;
}

std::string slowest_pairs(const run_facts& facts, const results& all) {
  std::string out;
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    const auto slow = slowest_in_class(facts, all, s, facts.chosen.slowest);
    if (slow.empty()) continue;
    out += wrapped(fmt::format("Slowest pairs, {}, each beside the median of its class",
                               format_size(all.sizes()[s])),
                   facts.chosen.width, 2);
    for (const slow_pair& p : slow)
      out += wrapped(
          fmt::format("  {:<34} {:>9} {:>11} {:>6.2f} x {}", pair_name(facts, p.initiator, p.peer),
                      format_seconds(p.time_s), format_bandwidth(p.bandwidth), p.times_median,
                      word_of(class_of(facts, p.initiator, p.peer))),
          facts.chosen.width, 4);
  }
  return out;
}

std::string crowding_warning(const run_facts& facts) {
  const crowding worst = worst_crowding(facts);
  if (!worst.crowded()) return {};
  return wrapped(
      fmt::format("warning: {} ranks share {} on {}: ranks wait for each other's turn there, and "
                  "the figures "
                  "show the scheduler more than the network; start no more ranks than cores",
                  worst.ranks, plural(worst.cores, "core"), worst.host),
      facts.chosen.width, 2);
}

std::string failures(const run_facts& facts, const results& all) {
  constexpr int most_named = 10;
  const std::set<int> gone = ranks_gone(all);
  std::string names;
  std::uint64_t failed = 0, single = 0;
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    all.for_known(s, [&](int r, int p, const pair_record& one) {
      if (r == p || one.state == pair_state::measured) return;
      ++failed;
      const bool with_gone = gone.contains(r) || gone.contains(p);
      if ((with_gone && one.state == pair_state::lost) || ++single > most_named) return;
      names += fmt::format("  {} {}: {}\n", pair_name(facts, r, p), format_size(all.sizes()[s]),
                           reason(facts, one.state));
    });
  }
  const std::uint64_t missing = all.missing() - all.count(pair_state::lost);
  const std::string unmeasured =
      missing == 0 ? "" : fmt::format("Not measured, their turn never came: {}\n", missing);
  if (failed == 0) return unmeasured;
  if (single > most_named) names += fmt::format("  and {} more\n", single - most_named);
  for (const int r : gone)
    names += fmt::format("  all that is missing with rank {} ({}): {}\n", r,
                         facts.hosts[static_cast<std::size_t>(r)], reason(facts, pair_state::lost));
  return fmt::format("Failed measurements: {}\n{}{}", failed, names, unmeasured);
}

std::string pictures(const run_facts& facts, const results& all, color_depth depth) {
  std::vector<std::string> drawn;
  add_pictures(drawn, facts, all, 0, true, depth);
  add_pictures(drawn, facts, all, all.sizes().size() - 1, false, depth);
  return side_by_side(drawn, facts.chosen.width);
}

}  // namespace heddle::linktest
