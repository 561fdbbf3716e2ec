// SPDX-License-Identifier: BSD-3-Clause
#include "info/hanging.h"

#include <fmt/format.h>
#include <heddle/info.h>
#include <heddle/types.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "info/metrics.h"

namespace heddle::tools {
namespace {

using json = nlohmann::ordered_json;

std::string duration(const json& of) {
  const auto ms = of["for_ms"].get<std::uint64_t>();
  return ms < 1000 ? "for less than 1 s" : fmt::format("for {} s at least", ms / 1000);
}

std::string tag_name(tag t) {
  if ((t & reserved_tag_bit) != 0) return fmt::format("a collective (tag {:#x})", t);
  return fmt::format("tag {}", t);
}

std::string tags_of(const json& receive) {
  const auto value = receive["tag"].get<tag>(), mask = receive["mask"].get<tag>();
  if (mask == ~tag{0}) return tag_name(value);
  if (mask == reserved_tag_bit) return "any tag";
  return fmt::format("tags like {:#x} in the bits {:#x}", value, mask);
}

std::string source_of(const json& receive) {
  const rank source = receive["source"];
  return source == any_source ? "any rank" : fmt::format("rank {}", source);
}

std::string line_of_receive(const json& r) {
  return fmt::format("from {}, {}, up to {} bytes, {}", source_of(r), tags_of(r),
                     r["bytes"].get<std::uint64_t>(), duration(r));
}

std::string line_of_message(const json& m) {
  return fmt::format("from rank {}, {}, {} bytes{}, {}", m["source"].get<rank>(),
                     tag_name(m["tag"]), m["bytes"].get<std::uint64_t>(),
                     m["announced"] ? " that are still at the sender" : "", duration(m));
}

std::string line_of_operation(const json& o) {
  const std::string kind = o["kind"];
  const rank peer = o["peer"];
  const bool tagged = kind == "send" || kind == "recv";
  return fmt::format("{}{}{}, {} bytes: {}, {}", kind,
                     peer == any_source ? std::string() : fmt::format(", rank {}", peer),
                     tagged ? ", " + tag_name(o["tag"]) : "", o["bytes"].get<std::uint64_t>(),
                     o["stage"].get<std::string>(), duration(o));
}

std::string life_of(const json& p) {
  if (p["lost"]) return fmt::format("lost: {}", p["why"].get<std::string>());
  const auto ms = p["silent_ms"].get<std::uint64_t>();
  if (ms < 1000) return "alive";
  return fmt::format("silent for {} s{}", ms / 1000,
                     p["asked_for_a_sign"] ? ", asked for a sign of life" : "");
}

std::string line_of_peer(const json& p) {
  const auto counted = [&](const char* name) { return p["counters"][name].get<std::uint64_t>(); };
  return fmt::format(
      "rank {} by {}: {}; {} waiting for room; credit {} of {} bytes, it uses {} here",
      p["rank"].get<rank>(), p["route"].get<std::string>(), life_of(p),
      counted("backlog") + counted("control"), counted("credit"), counted("credit_limit"),
      counted("held"));
}

/// The oldest of `list`, of which there are `count`.
void print_list(const char* title, const json& list, std::size_t count,
                std::string (*line)(const json&)) {
  if (count == 0) return;
  fmt::print("    {}: {}\n", title, count);
  for (const json& one : list) fmt::print("      {}\n", line(one));
  if (count > list.size()) fmt::print("      ... and {} more\n", count - list.size());
}

void print_head(const json& lane) {
  const auto thread = lane["opened_by_thread"].get<std::uint64_t>();
  const json& counted = lane["counters"];
  fmt::print("  lane {}: {}{}; threads waiting: {}; in flight: {}, {} bytes{}\n",
             lane["number"].get<int>(),
             lane["opened"] ? fmt::format("opened by thread {}", thread) : "not opened here",
             lane["exclusive"] ? " for itself (exclusive)" : "",
             counted["waiting_threads"].get<std::uint64_t>(),
             counted["in_flight"].get<std::uint64_t>(),
             counted["in_flight_bytes"].get<std::uint64_t>(),
             lane["commands_queued"] ? "; commands wait for whoever drives it" : "");
}

/// What is not 0; the names are those of counters.h.
void print_counters(const json& lane) {
  std::string text;
  for (const auto& [name, value] : lane["counters"].items())
    if (value != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value.dump());
  if (!text.empty()) fmt::print("    counted: {}\n", text);
}

void print_lane(const json& lane) {
  print_head(lane);
  print_counters(lane);
  if (lane["held"]) {
    fmt::print("    a thread is inside it and does not come out, so no more can be read\n");
    return;
  }
  print_list("operations in flight", lane["operations"], lane["operation_count"],
             line_of_operation);
  print_list("receives without a message", lane["receives"], lane["receive_count"],
             line_of_receive);
  print_list("messages that nobody has received", lane["messages"], lane["message_count"],
             line_of_message);
  print_list("peers", lane["peers"], lane["peers"].size(), line_of_peer);
}

/// Those that somebody has set; another version's library may tell of none.
void print_settings(const json& w) {
  if (!w.contains("settings")) return;
  for (const json& s : w["settings"])
    fmt::print("  {}={}, from the {}\n", s["name"].get<std::string>(),
               s["value"].get<std::string>(), s["origin"].get<std::string>());
}

void print_world(const json& w) {
  fmt::print("rank {} of {}, process {}", w["rank"].get<rank>(), w["size"].get<int>(),
             w["pid"].get<int>());
  if (w.contains("problem")) {
    fmt::print(": {}\n", w["problem"].get<std::string>());
    return;
  }
  if (w.contains("host")) fmt::print(" on {}", w["host"].get<std::string>());
  fmt::print(", heddle {}, progress {}: {}\n", w["version"].get<std::string>(),
             w["progress"].get<std::string>(), w["state"].get<std::string>());
  print_settings(w);
  if (!w.contains("lanes")) return;
  for (const json& lane : w["lanes"]) print_lane(lane);
}

/// Ranks of the same job that are not among `worlds`, when `pid` is the launcher's.
void print_missing(const json& worlds, int pid) {
  const auto is_asked = [pid](const json& w) { return w["pid"] == pid; };
  if (std::any_of(worlds.begin(), worlds.end(), is_asked)) return;
  const int size = worlds.front()["size"];
  std::string missing;
  for (int r = 0; r < size; ++r) {
    const auto is_r = [r](const json& w) { return w["rank"] == r; };
    if (std::none_of(worlds.begin(), worlds.end(), is_r)) missing += fmt::format(" {}", r);
  }
  if (!missing.empty())
    fmt::print("no world here of rank{}: ended, not made yet, or on another host\n", missing);
}

json ask(int pid) {
  json worlds = json::array();
  for (const std::string& text : ask_worlds(pid)) worlds.push_back(json::parse(text));
  return worlds;
}

}  // namespace

void print_metrics(int pid) {
  fmt::print("{}", metrics_of(ask(pid)));
}

void print_what_waits(int pid, bool as_data) {
  const json worlds = ask(pid);
  if (as_data) {
    fmt::print("{}\n", json{{"version", version()}, {"worlds", worlds}}.dump(2));
    return;
  }
  for (const json& w : worlds) print_world(w);
  print_missing(worlds, pid);
}

}  // namespace heddle::tools
