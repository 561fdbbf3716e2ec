// SPDX-License-Identifier: BSD-3-Clause
// parse_faults.cpp - the text of HEDDLE_FAULTS to a fault_plan.
#include <fmt/format.h>
#include <heddle/status.h>

#include <charconv>
#include <limits>
#include <string_view>

#include "backends/faults/chance.h"
#include "backends/faults/faults.h"

namespace heddle::transport {
namespace {

[[noreturn]] void refuse(std::string_view item, std::string_view expected) {
  throw error(fmt::format("HEDDLE_FAULTS: '{}': expected {}", item, expected));
}

std::uint64_t number(std::string_view item, std::string_view text, std::uint64_t limit) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc{} || end != text.data() + text.size() || value > limit)
    refuse(item, fmt::format("a number from 0 to {}", limit));
  return value;
}

unsigned percent(std::string_view item, std::string_view text) {
  return static_cast<unsigned>(number(item, text, 90));  // more would hardly ever get through
}

void read_kill(fault_plan& plan, std::string_view item, std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) refuse(item, "kill=RANK@STEP");
  constexpr auto highest = std::numeric_limits<rank>::max();
  plan.kill = static_cast<rank>(number(item, text.substr(0, at), highest));
  plan.kill_at = number(item, text.substr(at + 1), std::numeric_limits<std::uint64_t>::max());
}

constexpr std::string_view late_form =
    "late=WAY:MICROSECONDS with the WAY N, N>, >N, N>M or N-M, and /RAIL behind it for one rail";

rank rank_of(std::string_view item, std::string_view text) {
  if (text.empty()) refuse(item, late_form);
  return static_cast<rank>(number(item, text, std::numeric_limits<rank>::max()));
}

void read_late(fault_plan& plan, std::string_view item, std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(item, late_form);
  constexpr std::uint64_t most = 1'000'000;
  late_way way;
  way.by = std::chrono::microseconds(number(item, text.substr(colon + 1), most));
  std::string_view who = text.substr(0, colon);
  if (const std::size_t slash = who.find('/'); slash != std::string_view::npos) {
    way.rail = static_cast<int>(number(item, who.substr(slash + 1), 1000));
    who = who.substr(0, slash);
  }
  const std::size_t mark = who.find_first_of(">-");
  const bool one_way = mark != std::string_view::npos && who[mark] == '>';
  if (mark == std::string_view::npos) {
    way.from = rank_of(item, who);
    plan.late.push_back(way);
    plan.late.push_back({-1, way.from, way.rail, way.by});
    return;
  }
  const std::string_view from = who.substr(0, mark), to = who.substr(mark + 1);
  if (!from.empty() || !one_way) way.from = rank_of(item, from);
  if (!to.empty() || !one_way || from.empty()) way.to = rank_of(item, to);
  plan.late.push_back(way);
  if (!one_way) plan.late.push_back({way.to, way.from, way.rail, way.by});
}

void read_item(fault_plan& plan, std::string_view item) {
  const std::size_t split = item.find('=');
  const std::string_view name = item.substr(0, split);
  const std::string_view text = split == std::string_view::npos ? "" : item.substr(split + 1);
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  if (name == "seed")
    plan.seed = number(item, text, any);
  else if (name == "delay")
    plan.delay = static_cast<unsigned>(number(item, text, 1000));
  else if (name == "reorder")
    plan.reorder = percent(item, text);
  else if (name == "busy")
    plan.busy = percent(item, text);
  else if (name == "split")
    plan.split = percent(item, text);
  else if (name == "fail")
    plan.fail_from = number(item, text, any);
  else if (name == "kill")
    read_kill(plan, item, text);
  else if (name == "late")
    read_late(plan, item, text);
  else if (item == "map=off" || item == "map=on")
    plan.map = text == "on";
  else
    refuse(
        item,
        "seed=N, delay=N, reorder=%, busy=%, split=%, fail=N, kill=RANK@N, map=on|off, late=WAY:N");
}

}  // namespace

std::chrono::microseconds fault_plan::lateness(rank from, rank to) const noexcept {
  std::chrono::microseconds sum{0};
  for (const late_way& way : late)
    if ((way.from < 0 || way.from == from) && (way.to < 0 || way.to == to) &&
        (way.rail < 0 || way.rail == rail))
      sum += way.by;
  return sum;
}

fault_plan parse_faults(const std::string& text, rank self) {
  fault_plan plan;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    read_item(plan, rest.substr(0, comma));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  plan.self = self;
  plan.seed = chance(plan.seed + static_cast<std::uint64_t>(self)).next();
  return plan;
}

}  // namespace heddle::transport
