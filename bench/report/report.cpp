// SPDX-License-Identifier: BSD-3-Clause
// report.cpp - lines, tables and records of a case.
#include "report/report.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace heddle::bench {
namespace {

/// Four significant digits, never in scientific notation for what occurs here.
std::string digits(double value) {
  const double size = std::abs(value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  if (size >= 100) return fmt::format("{:.1f}", value);
  if (size >= 1) return fmt::format("{:.2f}", value);
  return size >= 0.01 || size == 0 ? fmt::format("{:.4f}", value) : fmt::format("{:.6f}", value);
}

/// Of one of the case's metrics, by rounds.
const std::vector<double>& figures_of(const series& s, std::size_t measure) {
  return measure == 0 ? s.figures : s.parts.at(measure - 1);
}

summary statistics_of(const case_result& c, const series& s, std::size_t measure = 0) {
  const std::vector<double>& figures = figures_of(s, measure);
  summary result = summarize(figures);
  if (measure == 0 && !s.p99.empty()) result.p99 = median(s.p99);
  if (!c.metrics[measure].mean) return result;
  const mean_estimate mean = estimate_mean(figures);
  result.median = mean.mean;
  result.ci95 = mean.ci95;
  return result;
}

double ratio(const case_result& c, const comparison& between) {
  const auto middle = [&](std::size_t who) {
    return statistics_of(c, c.contenders[who], between.measure).median;
  };
  return middle(between.of) / middle(between.to);
}

record record_of(const case_result& c, const series& s, std::size_t measure = 0) {
  const metric& m = c.metrics[measure];
  record r{.benchmark = c.benchmark,
           .op = !m.op.empty()  ? m.op
                 : s.op.empty() ? c.op
                                : s.op,
           .backend = c.backend,
           .library = s.library,
           .ranks = s.ranks,
           .threads = s.threads,
           .bytes = c.what.bytes,
           .metric = m.name,
           .unit = m.unit,
           .setup = setup_of(c.what)};
  set_statistics(r, statistics_of(c, s, measure));
  r.rounds = figures_of(s, measure);
  return r;
}

record ratio_record(const case_result& c, const comparison& between) {
  const series& of = c.contenders[between.of];
  record r = record_of(c, of, between.measure);
  r.library = between.library;
  r.metric = between.metric;
  r.unit = "times";
  const std::vector<double>& theirs = figures_of(c.contenders[between.to], between.measure);
  std::vector<double> by_round;
  for (std::size_t i = 0; i < std::min(r.rounds.size(), theirs.size()); ++i)
    by_round.push_back(r.rounds[i] / theirs[i]);
  set_statistics(r, summarize(by_round));
  r.rounds = by_round;
  r.median = ratio(c, between);
  return r;
}

record cache_line_record(const case_result& c) {
  record r = record_of(c, c.contenders.front());
  r.op = "cache-line";
  r.library = "bare";
  r.ranks = 1;
  r.threads = 2;
  r.bytes = 64;
  r.metric = "one-way";
  r.unit = "ns";
  r.setup.clear();
  set_statistics(r, summarize(c.cache_line_ns));
  r.rounds = c.cache_line_ns;
  return r;
}

template <class T>
void add_once(std::vector<T>& to, const T& value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
}

/// The other metrics beside the first: a line for each contender, and each op of its own.
std::string parts_table(const case_result& c) {
  if (c.metrics.size() == 1) return {};
  std::vector<std::string> ops, names;
  for (const metric& m : c.metrics) {
    add_once(ops, m.op);
    add_once(names, m.unit == "1" ? m.name : m.name + ", " + m.unit);
  }
  std::string text = fmt::format("{:<25}", "");
  for (const std::string& name : names) text += fmt::format("{:>22}", name);
  for (const series& s : c.contenders) {
    if (s.figures.empty()) continue;
    for (const std::string& op : ops) {
      text += fmt::format("\n{:<25}", s.label + (op.empty() ? "" : ' ' + op));
      for (std::size_t i = 0; i < c.metrics.size(); ++i) {
        if (c.metrics[i].op != op) continue;
        const summary of = statistics_of(c, s, i);
        const double half = (of.ci95.high - of.ci95.low) / 2;
        text += fmt::format("{:>22}", c.metrics[i].mean ? digits(of.median) + " +-" + digits(half)
                                                        : digits(of.median));
      }
    }
  }
  return text + '\n';
}

/// ", 2 threads each"; nothing for one thread.
std::string threads_of(const case_result& c) {
  std::vector<int> counts;
  for (const series& one : c.contenders)
    if (one.library == "heddle") add_once(counts, one.threads);
  if (counts == std::vector<int>{1}) return {};
  return fmt::format(", {} threads each{}", fmt::join(counts, " or "),
                     c.what.lanes == 0 ? ", a lane per thread" : "");
}

/// The first contender that `fits`; one past the last: there is none.
template <class F>
std::size_t place_of(const std::vector<series>& contenders, F&& fits) {
  const auto found = std::find_if(contenders.begin(), contenders.end(), fits);
  return static_cast<std::size_t>(found - contenders.begin());
}

bool is_known(const case_result& c, const comparison& between) {
  return !c.contenders[between.of].figures.empty() && !c.contenders[between.to].figures.empty();
}

std::string failures(const case_result& c) {
  std::string text;
  for (const series& s : c.contenders) {
    if (s.failure.empty()) continue;
    text += fmt::format("{}: left out from round {} on: {}\n", s.label, s.figures.size() + 1,
                        s.failure);
  }
  return text;
}

}  // namespace

void add_round(series& to, const round_result& r) {
  to.figures.push_back(r.figures.front());
  to.parts.resize(r.figures.size() - 1);
  for (std::size_t i = 1; i < r.figures.size(); ++i) to.parts[i - 1].push_back(r.figures[i]);
  if (r.p99 > 0) to.p99.push_back(r.p99);
}

std::vector<comparison> usual_comparisons(const std::vector<series>& contenders) {
  std::vector<comparison> all;
  const series& heddle = contenders.front();
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    const series& s = contenders[i];
    const auto same_library = [&s](const series& x) {
      return x.library == s.library && x.ranks == s.ranks && x.op == s.op;
    };
    const auto as_many_threads = [&](const series& x) {
      return x.library == heddle.library && x.threads == s.threads;
    };
    const std::size_t first = place_of(contenders, same_library);
    const std::size_t ours = place_of(contenders, as_many_threads);
    const std::string rival = s.library == heddle.library ? s.label : s.library;
    if (s.threads != contenders[first].threads) all.push_back({i, first, s.library, "scaling"});
    const bool of_another_kind = s.library == heddle.library && s.op != heddle.op;
    if (ours < i && !of_another_kind)
      all.push_back({ours, i, fmt::format("heddle/{}", rival), "ratio"});
  }
  return all;
}

std::string title(const case_result& c) {
  const spec& s = c.what;
  const int ranks = c.contenders.front().ranks;
  const std::string setup = setup_of(s);
  const std::string text =
      fmt::format("{} {} {} B over {}, {} ranks{}{}{}", c.benchmark, c.op, s.bytes, c.backend,
                  ranks, threads_of(c), setup.empty() ? "" : ", ", setup);
  return text + fmt::format(": {} in {}{}", c.metrics[0].name, c.metrics[0].unit,
                            ranks > 2 && s.what != kind::gups ? " per initiating rank" : "");
}

std::string round_heading(const case_result& c) {
  std::string line = fmt::format("{:<8}", "round");
  for (const series& s : c.contenders) line += fmt::format("{:>13}", s.label);
  return line + fmt::format("{:>16}", "cache line, ns");
}

std::string round_line(const case_result& c) {
  const std::size_t round = c.contenders.front().figures.size();
  std::string line = fmt::format("{:<8}", round);
  for (const series& s : c.contenders) {
    line += fmt::format("{:>13}", s.figures.size() < round ? "-" : digits(s.figures.back()));
  }
  return line + fmt::format("{:>16}", digits(c.cache_line_ns.back()));
}

std::string summary_table(const case_result& c) {
  const std::string middle = c.metrics[0].mean ? "mean" : "median";
  std::string text = fmt::format("{:<13}{:>12}{:>12}{:>12}{:>12}{:>24}\n", "", middle, "p99", "min",
                                 "max", "95 % CI of " + middle);
  const bool of_operations =
      std::ranges::any_of(c.contenders, [](const series& s) { return !s.p99.empty(); });
  for (const series& s : c.contenders) {
    if (s.figures.empty()) continue;
    const summary of = statistics_of(c, s);
    // That of rounds is another thing, which does not stand in one column with those.
    const std::string p99 = of_operations && s.p99.empty() ? "-" : digits(of.p99);
    const std::string ci = fmt::format("{} - {}", digits(of.ci95.low), digits(of.ci95.high));
    text += fmt::format("{:<13}{:>12}{:>12}{:>12}{:>12}{:>24}\n", s.label, digits(of.median), p99,
                        digits(of.minimum), digits(of.maximum), ci);
  }
  text += parts_table(c);
  for (const comparison& between : c.comparisons) {
    if (!is_known(c, between)) continue;
    const std::string name =
        fmt::format("{} / {}", c.contenders[between.of].label, c.contenders[between.to].label);
    text += fmt::format("{:<25}{:>12}\n", name, digits(ratio(c, between)));
  }
  return text + failures(c);
}

case_result aggregate_bandwidth(const case_result& latencies) {
  case_result c = latencies;
  c.what.what = kind::bandwidth;
  c.metrics = metrics_of(c.what);
  c.cache_line_ns.clear();
  for (series& s : c.contenders) {
    s.p99.clear();
    for (double& value : s.figures) value = s.threads * figure(c.what, value * 1e-6);
  }
  return c;
}

std::vector<record> records_of(const case_result& c) {
  std::vector<record> records;
  for (const series& s : c.contenders) {
    for (std::size_t i = 0; i < c.metrics.size() && !s.figures.empty(); ++i)
      records.push_back(record_of(c, s, i));
  }
  for (const comparison& between : c.comparisons) {
    if (is_known(c, between)) records.push_back(ratio_record(c, between));
  }
  if (!c.cache_line_ns.empty()) records.push_back(cache_line_record(c));
  return records;
}

}  // namespace heddle::bench
