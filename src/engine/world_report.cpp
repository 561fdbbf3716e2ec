// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_report.h"

#include <heddle/counters.h>
#include <heddle/info.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "engine/progress_mode.h"
#include "engine/world_core.h"

namespace heddle::engine {
namespace {

using json = nlohmann::ordered_json;
using protocols::port_report;

/// How long something is known to wait, in milliseconds.
std::uint64_t age_ms(std::uint64_t since_ns, std::uint64_t now_ns) {
  return since_ns == 0 || since_ns > now_ns ? 0 : (now_ns - since_ns) / 1'000'000;
}

json told(const port_report::operation& o, std::uint64_t now_ns) {
  return {{"kind", o.kind}, {"peer", o.peer},   {"bytes", o.bytes},
          {"tag", o.tag},   {"stage", o.stage}, {"for_ms", age_ms(o.since_ns, now_ns)}};
}

json told(const port_report::receive& r, std::uint64_t now_ns) {
  return {{"source", r.source},
          {"tag", r.match.value},
          {"mask", r.match.mask},
          {"bytes", r.bytes},
          {"for_ms", age_ms(r.since_ns, now_ns)}};
}

json told(const port_report::message& m, std::uint64_t now_ns) {
  return {{"source", m.source},
          {"tag", m.tag},
          {"bytes", m.bytes},
          {"announced", m.announced},
          {"for_ms", age_ms(m.since_ns, now_ns)}};
}

template <class List>
json all_told(const List& list, std::uint64_t now_ns) {
  json all = json::array();
  for (const auto& one : list) all.push_back(told(one, now_ns));
  return all;
}

template <class Counters>
json by_name(const Counters& counted, std::span<const counter_row> table) {
  json all;
  for (const counter_row& row : table) all[std::string(row.name)] = row.in(counted);
  return all;
}

json told(const port_report::peer& p, const std::string& route, std::uint64_t now_ns) {
  return {{"rank", p.number},
          {"lane", p.lane},
          {"route", route},
          {"lost", p.lost},
          {"why", p.why},
          {"silent_ms", age_ms(p.silent_since_ns, now_ns)},
          {"asked_for_a_sign", p.asked},
          {"counters", by_name(p.counted, peer_counter_table())}};
}

json told(const transport::given_setting& s) {
  return {{"name", s.name}, {"value", s.value}, {"origin", s.origin}};
}

/// What can be read without the hold.
json outside(const lane_core& lane, bool opened) {
  lane_counters counted;
  lane.count(counted);
  return {{"number", lane.number()},
          {"opened", opened},
          {"exclusive", lane.user().exclusive()},
          {"opened_by_thread", lane.user().opener()},
          {"commands_queued", lane.driver().hold().commands().pending()},
          {"counters", by_name(counted, lane_counter_table())}};
}

json told(const network& net, lane_core& lane, bool opened, std::uint64_t now_ns) {
  json told_of = outside(lane, opened);
  port_report found;
  const bool held = !lane.questions().report(now_ns, found);
  told_of["held"] = held;
  if (held) return told_of;
  told_of["operation_count"] = found.operation_count;
  told_of["operations"] = all_told(found.operations, now_ns);
  told_of["receive_count"] = found.receive_count;
  told_of["receives"] = all_told(found.receives, now_ns);
  told_of["message_count"] = found.message_count;
  told_of["messages"] = all_told(found.messages, now_ns);
  told_of["peers"] = json::array();
  for (const port_report::peer& p : found.peers)
    told_of["peers"].push_back(told(p, net.route(p.number), now_ns));
  return told_of;
}

/// Values of settings, and reasons, may be no UTF-8.
std::string text_of(const json& all) {
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

/// Runs on the inspector's thread while everything else may hang, so it takes no lock of the world:
/// lanes are found by what they publish, and a lane that somebody holds for long is told of from
/// outside.
std::string report(world_core& world) {
  json all{{"pid", getpid()},
           {"rank", world.self()},
           {"size", world.size()},
           {"version", version()},
           {"progress", name_of(mode_of(world.config()))},
           {"settings", json::array()}};
  for (const auto& s : world.given_settings()) all["settings"].push_back(told(s));
  if (!world.has_joined()) {
    all["state"] = "joining: waits for ranks that have not made their world yet";
    return text_of(all);
  }
  all["host"] = world.network().host(world.self());
  all["state"] = world.assembly().is_under_way()
                     ? "in world::barrier, symmetric or another call that waits for all ranks"
                     : "running";
  const std::uint64_t now = now_ns();
  all["lanes"] = json::array();
  world.lanes().for_each_made([&](lane_core& lane) {
    all["lanes"].push_back(told(world.network(), lane, world.lanes().opened(lane.number()), now));
  });
  return text_of(all);
}

}  // namespace heddle::engine
