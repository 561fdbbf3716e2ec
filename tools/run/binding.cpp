// SPDX-License-Identifier: BSD-3-Clause
#include "run/binding.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>

#include "exit_status.h"
#include "run/hosts.h"

namespace heddle::tools {
namespace {

using part = std::vector<int>;

constexpr const char* accepted = "none, core, numa or CPUs such as 0,4-7";

bool contains(const part& list, int cpu) {
  return std::find(list.begin(), list.end(), cpu) != list.end();
}

/// The first CPU of each core, then the second ones ...
part core_by_core(const std::vector<part>& cores) {
  part all;
  bool more = true;
  for (std::size_t thread = 0; more; ++thread) {
    more = false;
    for (const part& core : cores)
      if (thread < core.size()) {
        all.push_back(core[thread]);
        more = true;
      }
  }
  return all;
}

/// Neighbours of `all`, as many for each of `ranks` as for the next, or one more. There are enough.
std::vector<part> shares(const std::vector<part>& all, std::size_t ranks) {
  std::vector<part> cut;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto first = static_cast<std::ptrdiff_t>(rank * all.size() / ranks);
    const auto end = static_cast<std::ptrdiff_t>((rank + 1) * all.size() / ranks);
    cut.push_back(core_by_core({all.begin() + first, all.begin() + end}));
  }
  return cut;
}

std::vector<part> nodes_of(const machine& here, std::size_t ranks) {
  std::vector<part> nodes;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    nodes.push_back(here.numa_nodes[rank * here.numa_nodes.size() / ranks]);
  return nodes;
}

void check_listed(const part& listed, const machine& here) {
  const part usable = core_by_core(here.cores);
  for (const int cpu : listed)
    if (!contains(usable, cpu))
      throw usage_error(fmt::format("--bind {}: CPU {} may not be used, only {}", ranges_of(listed),
                                    cpu, ranges_of(usable)));
}

}  // namespace

binding parse_binding(const std::string& text) {
  using unit = binding::unit;
  if (text == "none") return {unit::none};
  if (text == "core") return {unit::core};
  if (text == "numa") return {unit::numa};
  binding list{unit::list};
  try {
    for (const std::string& cpu : number_list(text)) list.cpus.push_back(*whole_number(cpu));
  } catch (const usage_error&) {
    throw usage_error(fmt::format("'{}' is not {}", text, accepted));
  }
  part sorted = list.cpus;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) throw usage_error(fmt::format("CPU {} is listed twice", *twice));
  return list;
}

std::string text_of(const binding& how) {
  switch (how.what) {
    case binding::unit::none:
      return "none";
    case binding::unit::core:
      return "core";
    case binding::unit::numa:
      return "numa";
    case binding::unit::list:
      break;
  }
  std::string list;
  for (const int cpu : how.cpus) list += fmt::format("{}{}", list.empty() ? "" : ",", cpu);
  return list;
}

binding_plan plan_binding(const binding& how, const machine& here, int ranks) {
  if (how.what == binding::unit::none || ranks < 1) return {};
  const auto count = static_cast<std::size_t>(ranks);
  if (how.what == binding::unit::list) {
    check_listed(how.cpus, here);
    std::vector<part> single;
    for (const int cpu : how.cpus) single.push_back({cpu});
    if (count <= single.size()) return {shares(single, count), {}};
    return {std::vector<part>(count, how.cpus),
            fmt::format("{} ranks share all CPUs of --bind {}", ranks, ranges_of(how.cpus))};
  }
  if (count > here.cores.size())
    return {{},
            fmt::format("{} ranks on {} core{} are not bound", ranks, here.cores.size(),
                        here.cores.size() == 1 ? "" : "s")};
  return {how.what == binding::unit::numa ? nodes_of(here, count) : shares(here.cores, count), {}};
}

binding binding_beside(const binding& how, const std::vector<std::string>& environment) {
  constexpr std::string_view name = "HEDDLE_EXECUTOR_CORES=";
  for (const std::string& pair : environment) {
    if (how.asked || !pair.starts_with(name)) continue;
    const std::string_view cores = std::string_view(pair).substr(name.size());
    if (cores != "near" && cores != "none") return {binding::unit::none};
  }
  return how;
}

}  // namespace heddle::tools
