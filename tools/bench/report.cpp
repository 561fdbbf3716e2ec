// report.cpp - lines, tables and records of a case.
#include "bench/report.h"

#include <fmt/core.h>

namespace heddle::bench {
namespace {

/// Four significant digits, never in scientific notation for what occurs here.
std::string digits(double value) {
  if (value >= 1000) return fmt::format("{:.0f}", value);
  if (value >= 100) return fmt::format("{:.1f}", value);
  return value >= 1 ? fmt::format("{:.2f}", value) : fmt::format("{:.4f}", value);
}

summary statistics_of(const series& s) {
  summary result = summarize(s.figures);
  if (!s.stamps.empty()) result.p99 = percentile(s.stamps, 0.99);
  return result;
}

double ratio(const case_result& c, const series& rival) {
  return median(c.contenders.front().figures) / median(rival.figures);
}

record record_of(const case_result& c, const series& s) {
  const metric m = metric_of(c.what);
  record r{.benchmark = name_of(c.what.what),
           .op = name_of(c.what.op),
           .backend = c.backend,
           .library = s.library,
           .ranks = s.ranks,
           .threads = c.what.threads,
           .bytes = c.what.bytes,
           .metric = m.name,
           .unit = m.unit};
  set_statistics(r, statistics_of(s));
  return r;
}

record ratio_record(const case_result& c, const series& rival) {
  record r = record_of(c, c.contenders.front());
  r.library = fmt::format("heddle/{}", rival.label);
  r.metric = "ratio";
  r.unit = "times";
  std::vector<double> by_round;
  for (std::size_t i = 0; i < rival.figures.size(); ++i) {
    by_round.push_back(c.contenders.front().figures[i] / rival.figures[i]);
  }
  set_statistics(r, summarize(by_round));
  r.median = ratio(c, rival);
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
  set_statistics(r, summarize(c.cache_line_ns));
  return r;
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

std::string title(const case_result& c) {
  const spec& s = c.what;
  std::string text = fmt::format("{} {} {} B over {}, {} ranks", name_of(s.what), name_of(s.op),
                                 s.bytes, c.backend, c.contenders.front().ranks);
  if (s.threads > 1) {
    text += fmt::format(", {} threads each{}", s.threads, s.shared_lane ? " on one lane" : "");
  }
  if (s.what != kind::latency) text += fmt::format(", {} in flight", s.window);
  if (s.what == kind::bandwidth) {
    text += s.buffers == buffer_kind::exposed ? ", exposed buffers" : ", plain buffers";
  }
  if (s.target == target_mode::computing) text += ", target computing";
  const metric m = metric_of(s);
  return text + fmt::format(": {} in {}{}", m.name, m.unit,
                            c.contenders.front().ranks > 2 ? " per initiating rank" : "");
}

std::string round_heading(const case_result& c) {
  std::string line = fmt::format("{:<8}", "round");
  for (const series& s : c.contenders) line += fmt::format("{:>12}", s.label);
  return line + fmt::format("{:>16}", "cache line, ns");
}

std::string round_line(const case_result& c) {
  std::string line = fmt::format("{:<8}", c.contenders.front().figures.size());
  const std::size_t round = c.contenders.front().figures.size();
  for (const series& s : c.contenders) {
    line += fmt::format("{:>12}", s.figures.size() < round ? "-" : digits(s.figures.back()));
  }
  return line + fmt::format("{:>16}", digits(c.cache_line_ns.back()));
}

std::string summary_table(const case_result& c) {
  std::string text = fmt::format("{:<8}{:>12}{:>12}{:>12}{:>12}{:>24}\n", "", "median", "p99",
                                 "min", "max", "95 % CI of median");
  for (const series& s : c.contenders) {
    if (s.figures.empty()) continue;
    const summary of = statistics_of(s);
    const std::string ci = fmt::format("{} - {}", digits(of.ci95.low), digits(of.ci95.high));
    text += fmt::format("{:<8}{:>12}{:>12}{:>12}{:>12}{:>24}\n", s.label, digits(of.median),
                        digits(of.p99), digits(of.minimum), digits(of.maximum), ci);
  }
  for (std::size_t i = 1; i < c.contenders.size(); ++i) {
    if (c.contenders[i].figures.empty()) continue;
    text += fmt::format("{:<20}{:>12}\n", fmt::format("heddle / {}", c.contenders[i].label),
                        digits(ratio(c, c.contenders[i])));
  }
  return text + failures(c);
}

std::vector<record> records_of(const case_result& c) {
  std::vector<record> records;
  for (const series& s : c.contenders) {
    if (!s.figures.empty()) records.push_back(record_of(c, s));
  }
  for (std::size_t i = 1; i < c.contenders.size(); ++i) {
    if (!c.contenders[i].figures.empty()) records.push_back(ratio_record(c, c.contenders[i]));
  }
  records.push_back(cache_line_record(c));
  return records;
}

}  // namespace heddle::bench
