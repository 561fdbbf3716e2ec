// SPDX-License-Identifier: BSD-3-Clause
#include "engine/near_core.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>

namespace heddle::engine {
namespace {

using topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// How deep in the tree of the machine the smallest part lies that holds both cores.
int common_depth(hwloc_topology_t machine, int a, int b) {
  hwloc_obj_t first = hwloc_get_pu_obj_by_os_index(machine, static_cast<unsigned>(a));
  hwloc_obj_t second = hwloc_get_pu_obj_by_os_index(machine, static_cast<unsigned>(b));
  if (first == nullptr || second == nullptr) return -1;
  return hwloc_get_common_ancestor_obj(machine, first, second)->depth;
}

}  // namespace

int nearest_core(int to, std::span<const int> candidates) {
  if (candidates.size() == 1) return candidates.front();
  hwloc_topology_t loaded = nullptr;
  if (hwloc_topology_init(&loaded) != 0) return candidates.front();
  const topology machine(loaded, &hwloc_topology_destroy);
  if (hwloc_topology_load(loaded) != 0) return candidates.front();
  return *std::max_element(candidates.begin(), candidates.end(), [&](int a, int b) {
    return common_depth(loaded, to, a) < common_depth(loaded, to, b);
  });
}

}  // namespace heddle::engine
