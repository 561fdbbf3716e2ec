// SPDX-License-Identifier: BSD-3-Clause
#include "run/machine.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>

namespace heddle::tools {
namespace {

using topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

topology load() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return {nullptr, &hwloc_topology_destroy};
  topology loaded(made, &hwloc_topology_destroy);
  if (hwloc_topology_load(made) != 0) loaded.reset();
  return loaded;
}

/// Of the part, those in `cpus`.
std::vector<int> cpus_in(hwloc_const_cpuset_t part, const std::vector<int>& cpus) {
  std::vector<int> found;
  std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(found),
               [&](int cpu) { return hwloc_bitmap_isset(part, static_cast<unsigned>(cpu)) != 0; });
  return found;
}

/// All parts of a type in hwloc's order, in which neighbours are next to each other.
std::vector<std::vector<int>> parts(hwloc_topology_t from, hwloc_obj_type_t type,
                                    const std::vector<int>& cpus) {
  std::vector<std::vector<int>> all;
  for (hwloc_obj_t part = nullptr;
       (part = hwloc_get_next_obj_by_type(from, type, part)) != nullptr;) {
    std::vector<int> found = cpus_in(part->cpuset, cpus);
    if (!found.empty()) all.push_back(std::move(found));
  }
  return all;
}

std::string model_of(hwloc_topology_t from) {
  for (const hwloc_obj_t part :
       {hwloc_get_obj_by_type(from, HWLOC_OBJ_PACKAGE, 0), hwloc_get_root_obj(from)})
    if (part != nullptr)
      if (const char* model = hwloc_obj_get_info_by_name(part, "CPUModel")) return model;
  return {};
}

machine unknown(const std::vector<int>& cpus) {
  machine one;
  for (const int cpu : cpus) one.cores.push_back({cpu});
  one.numa_nodes.push_back(cpus);
  return one;
}

std::size_t count(const std::vector<std::vector<int>>& all) {
  std::size_t sum = 0;
  for (const auto& part : all) sum += part.size();
  return sum;
}

}  // namespace

machine look_at_machine(const std::vector<int>& cpus) {
  const topology loaded = load();
  if (loaded == nullptr) return unknown(cpus);
  machine found = unknown(cpus);
  auto cores = parts(loaded.get(), HWLOC_OBJ_CORE, cpus);
  auto nodes = parts(loaded.get(), HWLOC_OBJ_NUMANODE, cpus);
  if (count(cores) == cpus.size()) found.cores = std::move(cores);
  if (count(nodes) == cpus.size()) found.numa_nodes = std::move(nodes);
  found.packages =
      std::max(1, static_cast<int>(parts(loaded.get(), HWLOC_OBJ_PACKAGE, cpus).size()));
  found.processor = model_of(loaded.get());
  return found;
}

}  // namespace heddle::tools
