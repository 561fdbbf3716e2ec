// SPDX-License-Identifier: BSD-3-Clause
#include "trace/trace_summary.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <tuple>

namespace heddle::tools {
namespace {

using nlohmann::json;

struct durations {
  std::vector<double> us;
  std::size_t untimed = 0, failed = 0;
};

/// The value below which `part` of all are; they are sorted, and there is one.
double quantile(const std::vector<double>& sorted, double part) {
  const auto at = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(at, 1, sorted.size()) - 1];
}

kind_summary summary_of(const std::string& name, durations& all) {
  std::ranges::sort(all.us);
  const std::size_t count = all.us.size() + all.untimed;
  if (all.us.empty()) all.us.push_back(0);
  return {name, count, all.failed, quantile(all.us, 0.5), quantile(all.us, 0.99), all.us.back()};
}

/// Goes through the events of all files.
class reader {
 public:
  void read(const json& trace) {
    for (const json& e : trace["traceEvents"]) take(e);
    begun_.clear();  // what has no end
  }
  std::map<std::pair<bool, std::string>, durations> kinds;  // the engine's own are true
  std::vector<sleep_summary> sleeps;
  double first_us = std::numeric_limits<double>::max();

 private:
  void take(const json& e) {
    const std::string phase = e.at("ph");
    if (phase == "M") return;
    const double ts = e.at("ts");
    first_us = std::min(first_us, ts);
    if (phase == "X") return add(e, e.at("dur"));
    if (phase == "i" && e.at("cat") == "operation") return add(e, 0);
    const auto number = [&] {
      return std::tuple(e.at("pid").get<int>(), e.at("id2").at("local").get<std::string>());
    };
    if (phase == "b") begun_[number()] = ts;
    if (phase != "e") return;
    const auto begin = begun_.find(number());
    if (begin == begun_.end()) return;
    add(e, ts - begin->second);
    begun_.erase(begin);
  }
  void add(const json& e, double us) {
    const bool engine = e.at("cat") == "engine";
    durations& all = kinds[{engine, e.at("name")}];
    const json& arguments = e.at("args");
    if (arguments.contains("clock"))
      ++all.untimed;
    else
      all.us.push_back(us);
    if (!engine && arguments.value("status", "done") != "done") ++all.failed;
    if (e.at("name") != "sleep") return;
    sleeps.push_back({e.at("pid"), e.at("tid"), arguments.value("by", ""), e.at("ts"), us,
                      arguments.value("woken", 1) != 0});
  }
  std::map<std::tuple<int, std::string>, double> begun_;
};

}  // namespace

json read_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw error(fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
  json found = json::parse(file, nullptr, false);
  if (found.is_discarded() || !found.is_object() || !found.contains("traceEvents") ||
      !found["traceEvents"].is_array())
    throw error(fmt::format(
        "{} is no trace: it has to be a file of HEDDLE_TRACE, whose rank has ended in order",
        path));
  return found;
}

trace_summary summarise(const std::vector<json>& traces, std::size_t most) {
  reader all;
  trace_summary made;
  for (const json& trace : traces) {
    all.read(trace);
    const json& other = trace.value("otherData", json::object());
    made.lost_events += other.value("lost_events", std::uint64_t{0});
    made.sample = std::max(made.sample, other.value("sample", std::uint64_t{1}));
  }
  for (auto& [name, found] : all.kinds) made.kinds.push_back(summary_of(name.second, found));
  std::ranges::sort(all.sleeps, std::greater{}, &sleep_summary::us);
  if (all.sleeps.size() > most) all.sleeps.resize(most);
  for (sleep_summary& s : all.sleeps) s.begin_us -= all.first_us;
  made.sleeps = std::move(all.sleeps);
  return made;
}

std::string text_of(const trace_summary& of) {
  std::string text = fmt::format("{:<12} {:>10} {:>8} {:>13} {:>13} {:>13}\n", "what", "count",
                                 "failed", "median, us", "p99, us", "longest, us");
  for (const kind_summary& k : of.kinds)
    text += fmt::format("{:<12} {:>10} {:>8} {:>13.3f} {:>13.3f} {:>13.3f}\n", k.name, k.count,
                        k.failed, k.median_us, k.p99_us, k.longest_us);
  if (!of.sleeps.empty()) text += "\nlongest sleeps\n";
  for (const sleep_summary& s : of.sleeps)
    text += fmt::format("  {:>12.3f} us at {:>14.3f} us: rank {}, {} {}, {}\n", s.us, s.begin_us,
                        s.rank, s.by, s.thread, s.woken ? "woken" : "its time was up");
  if (of.sample > 1) text += fmt::format("\none operation in {} was recorded\n", of.sample);
  if (of.lost_events != 0)
    text +=
        fmt::format("\n{} events are missing, the oldest ones: HEDDLE_TRACE_EVENTS keeps more\n",
                    of.lost_events);
  return text;
}

nlohmann::ordered_json as_json(const trace_summary& of) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array(), sleeps = kinds;
  for (const kind_summary& k : of.kinds)
    kinds.push_back({{"name", k.name},
                     {"count", k.count},
                     {"failed", k.failed},
                     {"median_us", k.median_us},
                     {"p99_us", k.p99_us},
                     {"longest_us", k.longest_us}});
  for (const sleep_summary& s : of.sleeps)
    sleeps.push_back({{"rank", s.rank},
                      {"thread", s.thread},
                      {"by", s.by},
                      {"begin_us", s.begin_us},
                      {"us", s.us},
                      {"woken", s.woken}});
  return {{"kinds", kinds},
          {"longest_sleeps", sleeps},
          {"sample", of.sample},
          {"lost_events", of.lost_events}};
}

}  // namespace heddle::tools
