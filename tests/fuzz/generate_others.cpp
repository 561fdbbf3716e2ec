// SPDX-License-Identifier: BSD-3-Clause
// generate_others.cpp - collectives, lulls, mistakes and mishaps.

#include <algorithm>

#include "fuzz/generate_actions.h"

namespace heddle::fuzz {
namespace {

bool lacks(mistake m) {
  return m == mistake::denied_put || m == mistake::denied_get || m == mistake::denied_atomic;
}

/// A process that is stopped for ever may hold a lock of a software device, which hardware has
/// not.
bool over_software_device(const plan& p) {
  return std::ranges::any_of(p.settings, [](const setting& s) {
    return s.name == "HEDDLE_BACKENDS" && (s.value.find("utofu") != std::string::npos ||
                                           s.value.find("verbs") != std::string::npos);
  });
}

int needed(mistake m) {
  switch (m) {
    case mistake::get_bounds:
    case mistake::denied_get:
    case mistake::withdrawn_get:
      return 1;
    case mistake::atomic_bounds:
    case mistake::misaligned:
    case mistake::denied_atomic:
      return 4;
    default:
      return 2;
  }
}

/// An area of which only what is meant is wrong.
bool place_error(draws& in, step& s, mistake which) {
  const bool late = which == mistake::withdrawn_put || which == mistake::withdrawn_get;
  for (const area& a : in.p.areas) {
    const bool there = a.first <= in.phase && in.phase <= a.last;
    const bool gone = a.last < in.phase && a.kind != area_kind::symmetric;
    if (late ? !gone : !there) continue;
    if (((a.allowed & needed(which)) == 0) != lacks(which)) continue;
    s.area = a.id;
    if (a.owner != all_ranks) s.peer = a.owner;
    s.at = static_cast<std::uint64_t>(in.d.between(0, 100000));
    return true;
  }
  return false;
}

}  // namespace

action collectives(draws& in) {
  action all;
  const int lane = in.d.one_of(in.p.lanes).number;
  const auto [place, fresh] = in.collective_threads.emplace(lane, in.thread_for(lane));
  const int count = in.d.between(1, 3);
  for (int i = 0; i < count; ++i) {
    step s = in.blank(static_cast<verb>(
        in.d.between(static_cast<int>(verb::barrier), static_cast<int>(verb::alltoall))));
    s.rank = all_ranks, s.lane = lane, s.thread = place->second;
    s.bytes = s.what == verb::barrier ? 0 : in.d.size(40000);
    if (s.what == verb::reduce || s.what == verb::allreduce)
      s.op = in.d.below(7), s.bytes = s.bytes / 8 * 8;
    const bool rooted =
        s.what == verb::broadcast || s.what == verb::reduce || s.what == verb::gather;
    if (!rooted) s.peer = 0;
    if (rooted && in.d.percent(5)) s.peer = in.p.ranks;
    s.ends = s.peer == in.p.ranks ? in.free_ending() : in.any_ending();
    all.push_back(s);
  }
  return all;
}

action lull(draws& in) {
  step s = in.blank(in.d.one_of({verb::poll, verb::pause, verb::flush, verb::reopen}));
  s.peer = s.what == verb::flush && in.d.percent(50) ? -1 : s.peer;
  if (s.what == verb::poll) s.bytes = static_cast<std::uint64_t>(in.d.between(1, 20));
  if (s.what == verb::pause) s.bytes = static_cast<std::uint64_t>(in.d.between(1, 5000));
  if (s.what != verb::reopen) return {s};
  for (const lane_plan& l : in.p.lanes)
    if (l.number == s.lane && l.owner == s.thread) return {s};
  return {};
}

action error(draws& in) {
  step s = in.blank(verb::mistake);
  const bool late = in.d.percent(30);
  s.op = late ? in.d.between(static_cast<int>(mistake::withdrawn_put),
                             static_cast<int>(mistake::withdrawn_get))
              : in.d.below(static_cast<int>(mistake::withdrawn_put));
  const auto which = static_cast<mistake>(s.op);
  s.tag = which == mistake::cancel_nothing ? 0 : in.new_tag();
  if (which < mistake::notify_handler || which == mistake::cancel_nothing ||
      which == mistake::no_address)
    return {s};
  return place_error(in, s, which) ? action{s} : action{};
}

action harm(draws& in) {
  if (in.harmed++ != 0 || in.d.percent(40)) return {};
  const bool kills = in.sky == weather::deadly && (in.d.percent(70) || over_software_device(in.p));
  step s = in.blank(kills ? verb::kill : verb::stop);
  s.peer = 0;
  if (in.sky == weather::stopped) s.bytes = static_cast<std::uint64_t>(in.d.between(1000, 150000));
  for (const step& other : in.p.steps)
    if (other.what == verb::kill || (other.what == verb::stop && other.bytes == 0)) return {};
  return {s};
}

}  // namespace heddle::fuzz
