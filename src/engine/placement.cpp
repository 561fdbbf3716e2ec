#include "engine/placement.h"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "base/error.h"

namespace heddle::engine {
namespace {

using topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

bool contains(std::span<const int> list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

int listed_core(const std::string& list, int index) {
  std::vector<int> cores;
  std::istringstream numbers(list);
  for (std::string n; std::getline(numbers, n, ',');) cores.push_back(std::stoi(n));
  const int chosen = cores[static_cast<std::size_t>(index) % cores.size()];
  if (!contains(usable_cores(), chosen))
    fail("HEDDLE_EXECUTOR_CORES={}: this process may not run on core {}; see taskset -p", list,
         chosen);
  return chosen;
}

/// How deep in the tree of the machine the smallest part lies that holds both cores.
int common_depth(hwloc_topology_t machine, int a, int b) {
  hwloc_obj_t first = hwloc_get_pu_obj_by_os_index(machine, static_cast<unsigned>(a));
  hwloc_obj_t second = hwloc_get_pu_obj_by_os_index(machine, static_cast<unsigned>(b));
  if (first == nullptr || second == nullptr) return -1;
  return hwloc_get_common_ancestor_obj(machine, first, second)->depth;
}

int nearest(int to, std::span<const int> candidates) {
  if (candidates.size() == 1) return candidates.front();
  hwloc_topology_t loaded = nullptr;
  if (hwloc_topology_init(&loaded) != 0) return candidates.front();
  const topology machine(loaded, &hwloc_topology_destroy);
  if (hwloc_topology_load(loaded) != 0) return candidates.front();
  return *std::max_element(candidates.begin(), candidates.end(), [&](int a, int b) {
    return common_depth(loaded, to, a) < common_depth(loaded, to, b);
  });
}

}  // namespace

std::vector<int> usable_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int c = 0; c < CPU_SETSIZE; ++c)
    if (CPU_ISSET(c, &set)) cores.push_back(c);
  return cores;
}

bool keep_off(std::thread::native_handle_type thread, std::span<const int> cores,
              int core) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int c : cores)
    if (c != core) CPU_SET(static_cast<std::size_t>(c), &set);
  return CPU_COUNT(&set) != 0 && pthread_setaffinity_np(thread, sizeof set, &set) == 0;
}

int choose_core(const std::string& wish, int index, std::span<const int> mine,
                std::span<const int> all) {
  if (wish == "none" || wish.empty()) return -1;
  if (wish != "near") return listed_core(wish, index);
  if (mine.empty()) return -1;
  std::vector<int> free = usable_cores();
  std::erase_if(free, [&](int core) { return contains(all, core); });
  if (free.empty()) return -1;
  // Executors of one process take different ones as far as there are.
  std::rotate(free.begin(), free.begin() + index % static_cast<int>(free.size()), free.end());
  return nearest(mine.front(), free);
}

int share_of_cores(int ranks) {
  const int all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int mine = static_cast<int>(usable_cores().size());
  return std::max(1, std::min(mine, all / std::max(1, ranks)));
}

bool tie_to_core(int core) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

}  // namespace heddle::engine
