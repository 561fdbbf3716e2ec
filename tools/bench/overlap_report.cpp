// overlap_report.cpp - medians of sides as a table and as records.
#include "bench/overlap_report.h"

#include <fmt/core.h>

#include <algorithm>

namespace heddle::bench {
namespace {

/// The sides that compute: their names, and their rounds in a series.
struct side {
  const char* name;
  std::vector<side_round> overlap_series::*rounds;
};

std::vector<side> computing_sides(computing who) {
  std::vector<side> sides;
  if (computes(who, true)) sides.push_back({"sender", &overlap_series::sender});
  if (computes(who, false)) sides.push_back({"receiver", &overlap_series::receiver});
  return sides;
}

template <class F>
std::vector<double> figures_of(const std::vector<side_round>& rounds, F&& figure) {
  std::vector<double> figures;
  std::transform(rounds.begin(), rounds.end(), std::back_inserter(figures), figure);
  return figures;
}

double ratio_of(const side_round& r) {
  return overlap_ratio(r.alone.total, r.together.compute, r.together.total);
}

std::vector<double> totals_of(const std::vector<side_round>& rounds) {
  return figures_of(rounds, [](const side_round& r) { return r.together.total * 1e6; });
}

/// The times of a side by their names in records, in microseconds.
struct named_time {
  const char* name;
  double (*us)(const side_round&);
};
constexpr named_time times[] = {
    {"alone", [](const side_round& r) { return r.alone.total * 1e6; }},
    {"total", [](const side_round& r) { return r.together.total * 1e6; }},
    {"isend", [](const side_round& r) { return r.together.post * 1e6; }},
    {"compute", [](const side_round& r) { return r.together.compute * 1e6; }},
    {"wait", [](const side_round& r) { return r.together.wait * 1e6; }}};

std::string line(const std::string& library, const char* name,
                 const std::vector<side_round>& rounds) {
  std::string text =
      fmt::format("{:<9}{:<9} {:>7.3f}", library, name, median(figures_of(rounds, ratio_of)));
  for (const named_time& t : times) {
    text += fmt::format(" {:>10.1f}", median(figures_of(rounds, t.us)));
  }
  return text + '\n';
}

record record_of(const overlap_case& c, const std::string& library, const char* side_name,
                 const char* metric, const char* unit, const std::vector<double>& figures) {
  record r{.benchmark = "overlap",
           .op = side_name,
           .backend = c.backend,
           .library = library,
           .bytes = c.bytes,
           .metric = metric,
           .unit = unit};
  if (library == "heddle") r.ranks = c.ranks;
  set_statistics(r, summarize(figures));
  return r;
}

void add_ratio(std::vector<record>& to, const overlap_case& c, const side& of,
               const overlap_series& rival) {
  const std::vector<double> ours = totals_of(c.libraries.front().*of.rounds);
  const std::vector<double> theirs = totals_of(rival.*of.rounds);
  std::vector<double> by_round;
  for (std::size_t i = 0; i < theirs.size(); ++i) by_round.push_back(ours[i] / theirs[i]);
  to.push_back(record_of(c, "heddle/" + rival.library, of.name, "ratio", "times", by_round));
  to.back().median = median(ours) / median(theirs);
}

}  // namespace

std::string overlap_table(const overlap_case& c) {
  std::string text =
      fmt::format("overlap tag {} B over {}, computing {} us\n", c.bytes, c.backend, c.compute_us);
  text += fmt::format("{:<9}{:<9} {:>7}", "library", "side", "overlap");
  for (const named_time& t : times) text += fmt::format(" {:>10}", fmt::format("{}, us", t.name));
  text += '\n';
  for (const overlap_series& s : c.libraries) {
    if (s.sender.empty()) continue;
    for (const side& of : computing_sides(c.who)) text += line(s.library, of.name, s.*of.rounds);
  }
  for (const overlap_series& s : c.libraries) {
    if (s.failure.empty()) continue;
    text += fmt::format("{}: left out from round {} on: {}\n", s.library, s.sender.size() + 1,
                        s.failure);
  }
  return text;
}

std::vector<record> overlap_records(const overlap_case& c) {
  std::vector<record> records;
  for (const overlap_series& s : c.libraries) {
    if (s.sender.empty()) continue;
    for (const side& of : computing_sides(c.who)) {
      const std::vector<side_round>& rounds = s.*of.rounds;
      const auto add = [&](const char* metric, const char* unit, auto figure) {
        records.push_back(
            record_of(c, s.library, of.name, metric, unit, figures_of(rounds, figure)));
      };
      add("overlap_ratio", "1", ratio_of);
      for (const named_time& t : times) add(t.name, "us", t.us);
      if (&s != &c.libraries.front()) add_ratio(records, c, of, s);
    }
  }
  return records;
}

}  // namespace heddle::bench
