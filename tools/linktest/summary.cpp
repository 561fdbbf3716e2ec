// summary.cpp - text made of results.
#include "linktest/summary.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <span>

#include "linktest/heatmap.h"
#include "linktest/progress.h"

namespace heddle::linktest {
namespace {

std::string pair_name(const run_facts& facts, int from, int to) {
  const auto host = [&](int r) { return facts.hosts[static_cast<std::size_t>(r)]; };
  return fmt::format("rank {} ({}) -> rank {} ({})", from, host(from), to, host(to));
}

std::string plural(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// In the order of their first ranks.
std::vector<std::string> without_repeats(const std::vector<std::string>& hosts) {
  std::vector<std::string> each;
  std::set<std::string> known;
  for (const std::string& host : hosts)
    if (known.insert(host).second) each.push_back(host);
  return each;
}

std::string some_of(const std::vector<std::string>& hosts) {
  constexpr std::size_t most_named = 8;
  const std::span named(hosts.data(), std::min(hosts.size(), most_named));
  return fmt::format("{}{}", fmt::join(named, ", "), hosts.size() > most_named ? ", ..." : "");
}

std::string picture(const run_facts& facts, const results& all, std::size_t size_index,
                    bool is_time, color_depth depth) {
  const auto values = all.matrix(size_index, is_time ? metric::time_median : metric::bandwidth);
  const auto states = all.states(size_index);
  const std::string title =
      fmt::format("{}, {} messages, {}, {}", is_time ? "Time per message" : "Bandwidth",
                  format_size(all.sizes()[size_index]), name_of(facts.chosen.kernel),
                  name_of(facts.chosen.mode));
  return draw_heatmap({all.ranks(), values, states, is_time, title}, {depth, facts.chosen.width});
}

bool nothing_measured(const results& all, int rank) {
  for (std::size_t s = 0; s < all.sizes().size(); ++s)
    for (int p = 0; p < all.ranks(); ++p)
      for (const pair_state state : {all.at(s, rank, p).state, all.at(s, p, rank).state})
        if (p != rank && state != pair_state::lost) return false;
  return true;
}

/// Ranks with which nothing could be measured; none when it was so with all.
std::set<int> unreachable(const results& all) {
  std::set<int> gone;
  for (int r = 0; r < all.ranks(); ++r)
    if (nothing_measured(all, r)) gone.insert(r);
  return gone.size() < static_cast<std::size_t>(all.ranks()) ? gone : std::set<int>{};
}

std::string reason(const run_facts& facts, pair_state state) {
  if (state != pair_state::lost) return std::string(name_of(state));
  return fmt::format("lost: died, or gave no answer within {} s", facts.chosen.timeout_s);
}

}  // namespace

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::vector<std::string> tell_apart(const std::vector<std::string>& names,
                                    const std::vector<int>& numbers) {
  std::map<std::string, std::set<int>> called;
  for (std::size_t r = 0; r < names.size(); ++r) called[names[r]].insert(numbers[r]);
  std::vector<std::string> out;
  for (std::size_t r = 0; r < names.size(); ++r)
    out.push_back(called[names[r]].size() == 1 ? names[r]
                                               : fmt::format("{}#{}", names[r], numbers[r]));
  return out;
}

exit_status verdict_of(const results& all) {
  if (all.count(pair_state::corrupted) > 0) return corrupted;
  return all.count(pair_state::lost) + all.count(pair_state::unmeasured) > 0 ? incomplete : success;
}

std::string describe_run(const run_facts& facts) {
  const options& o = facts.chosen;
  const std::vector<std::string> hosts = without_repeats(facts.hosts);
  std::vector<std::string> sizes;
  for (const std::uint64_t size : o.sizes) sizes.push_back(format_size(size));
  return fmt::format("{} on {} ({}) over {}: kernel {}, {}, sizes {}, {}, {}\n",
                     plural(facts.hosts.size(), "rank"), plural(hosts.size(), "host"),
                     some_of(hosts), fmt::join(facts.routes, " and "), name_of(o.kernel),
                     name_of(o.mode), fmt::join(sizes, ", "), plural(o.messages, "message"),
                     plural(o.repetitions, "repetition"));
}

std::string figures(const results& all) {
  std::string out = fmt::format("{:<10}{:<18}{:>12}{:>12}{:>12}\n", "size", "over all pairs", "min",
                                "median", "max");
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    const spread time = all.summary(s, metric::time_median);
    const spread rate = all.summary(s, metric::bandwidth);
    out += fmt::format("{:<10}{:<18}{:>12}{:>12}{:>12}\n", format_size(all.sizes()[s]),
                       "time per message", format_seconds(time.min), format_seconds(time.median),
                       format_seconds(time.max));
    out +=
        fmt::format("{:<10}{:<18}{:>12}{:>12}{:>12}\n", "", "bandwidth", format_bandwidth(rate.min),
                    format_bandwidth(rate.median), format_bandwidth(rate.max));
  }
  return out;
}

std::string slowest_pairs(const run_facts& facts, const results& all) {
  std::string out;
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    const auto slow = all.slowest(s, facts.chosen.slowest);
    if (slow.empty()) continue;
    out += fmt::format("Slowest pairs, {}\n", format_size(all.sizes()[s]));
    for (const slow_pair& p : slow)
      out += fmt::format("  {:<44} {:>9} {:>11} {:>6.2f} x median\n",
                         pair_name(facts, p.initiator, p.peer), format_seconds(p.time_s),
                         format_bandwidth(p.bandwidth), p.times_median);
  }
  return out;
}

std::string failures(const run_facts& facts, const results& all) {
  constexpr int most_named = 10;
  const std::set<int> gone = unreachable(all);
  std::string names;
  std::uint64_t failed = 0, single = 0;
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    for (int r = 0; r < all.ranks(); ++r) {
      for (int p = 0; p < all.ranks(); ++p) {
        const pair_state state = all.at(s, r, p).state;
        if (r == p || state == pair_state::measured) continue;
        ++failed;
        if (gone.contains(r) || gone.contains(p) || ++single > most_named) continue;
        names += fmt::format("  {} {}: {}\n", pair_name(facts, r, p), format_size(all.sizes()[s]),
                             reason(facts, state));
      }
    }
  }
  if (failed == 0) return {};
  if (single > most_named) names += fmt::format("  and {} more\n", single - most_named);
  for (const int r : gone)
    names += fmt::format("  everything with rank {} ({}): {}\n", r,
                         facts.hosts[static_cast<std::size_t>(r)], reason(facts, pair_state::lost));
  return fmt::format("Failed measurements: {}\n{}", failed, names);
}

std::string pictures(const run_facts& facts, const results& all, color_depth depth) {
  std::string out = picture(facts, all, 0, true, depth);
  out += '\n' + picture(facts, all, all.sizes().size() - 1, false, depth);
  return out;
}

}  // namespace heddle::linktest
