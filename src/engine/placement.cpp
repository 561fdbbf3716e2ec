// SPDX-License-Identifier: BSD-3-Clause
#include "engine/placement.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "engine/near_core.h"

namespace heddle::engine {
namespace {

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

/// Whoever may use them.
int cores_of_host() {
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
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
  return nearest_core(mine.front(), free);
}

int share_of_cores(int ranks) {
  const int mine = static_cast<int>(usable_cores().size());
  return std::max(1, std::min(mine, cores_of_host() / std::max(1, ranks)));
}

int ranks_per_core(int ranks) {
  const int cores = cores_of_host();
  return (ranks + cores - 1) / cores;
}

bool tie_to_core(int core) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

}  // namespace heddle::engine
