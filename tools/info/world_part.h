// SPDX-License-Identifier: BSD-3-Clause
// world_part.h - what `heddle info` learns by joining the job it runs in.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::tools {

struct route_row {
  int peer;
  std::string host, backend;
};

struct world_part {
  int rank = 0, size = 1;
  std::string description;  ///< lines for people: backends, routes, limits
  std::vector<route_row> routes;
  std::vector<std::string> cpus;   ///< that each rank may use, on rank 0: "0-3,8"
  std::uint64_t wake_cost_ns = 0;  ///< on rank 0
};

/// Every backend there is, and whether a world of one can use it: "usable", or why not. Changes
/// this process's environment.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> try_backends();

/// Joins, asks, leaves. Throws error: why there is no world to be had.
[[nodiscard]] world_part ask_world();

}  // namespace heddle::tools
