// SPDX-License-Identifier: BSD-3-Clause
#include "info/world_part.h"

#include <heddle/collectives.h>
#include <heddle/info.h>
#include <heddle/lane.h>
#include <heddle/world.h>

#include <array>
#include <cstdlib>

#include "run/hosts.h"
#include "run/rank_process.h"

namespace heddle::tools {
namespace {

/// Longer lists are cut.
using short_text = std::array<char, 120>;

std::vector<std::string> cpus_of_ranks(world& here) {
  short_text mine{};
  ranges_of(allowed_cpus()).copy(mine.data(), mine.size() - 1);
  std::vector<short_text> all(here.rank() == 0 ? static_cast<std::size_t>(here.size()) : 0);
  lane over(here);
  if (gather(over, std::span(&mine, 1), std::span(all), 0) != status::done) return {};
  std::vector<std::string> texts;
  for (const short_text& one : all) texts.emplace_back(one.data());
  return texts;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> try_backends() {
  setenv("HEDDLE_BOOT", "alone", 1);
  setenv("HEDDLE_LOG", "off", 1);  // what is wrong comes as an error
  std::vector<std::pair<std::string, std::string>> tried;
  for (const std::string& name : list_backends()) {
    setenv("HEDDLE_BACKENDS", name.c_str(), 1);
    try {
      const world alone;
      tried.emplace_back(name, "usable");
    } catch (const error& why) {
      tried.emplace_back(name, why.what());
    }
  }
  return tried;
}

world_part ask_world() {
  world here;
  world_part found{here.rank(), here.size(), here.describe(), {}, cpus_of_ranks(here), 0};
  for (int peer = 0; peer < here.size(); ++peer)
    found.routes.push_back({peer, here.host(peer), here.route(peer)});
  if (here.rank() == 0) found.wake_cost_ns = wake_cost_ns();  // while the others are quiet
  here.barrier();  // nobody leaves while others still find their routes
  return found;
}

}  // namespace heddle::tools
