// SPDX-License-Identifier: BSD-3-Clause
// pinning.cpp - sched_getaffinity and sched_setaffinity, as lists of core numbers.
#include "parts/pinning.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace heddle::bare {

cpu_set_t set_of(std::span<const int> cores) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<unsigned>(core), &set);
  return set;
}

std::vector<int> cores_in(const cpu_set_t& set) {
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

std::vector<int> allowed_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  }
  return cores_in(set);
}

void pin_this_thread(std::span<const int> cores) {
  if (cores.empty() || std::ranges::find(cores, any_core) != cores.end()) return;
  const cpu_set_t set = set_of(cores);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return;
  const int why = errno;
  std::string names;
  for (const int core : cores) names += ' ' + std::to_string(core);
  throw std::system_error(why, std::generic_category(), "pin a thread to core" + names);
}

void pin_this_thread(int core) {
  pin_this_thread(std::span(&core, 1));
}

}  // namespace heddle::bare
