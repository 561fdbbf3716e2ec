// SPDX-License-Identifier: BSD-3-Clause
// pinning.cpp - sched_getaffinity and sched_setaffinity, as lists of core numbers.
#include "parts/pinning.h"

#include <sched.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace heddle::bare {

std::vector<int> allowed_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

void pin_this_thread(std::span<const int> cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string names;
  for (const int core : cores) {
    if (core == any_core) return;
    CPU_SET(static_cast<unsigned>(core), &set);
    names += ' ' + std::to_string(core);
  }
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw std::system_error(errno, std::generic_category(), "pin a thread to core" + names);
  }
}

void pin_this_thread(int core) {
  pin_this_thread(std::span(&core, 1));
}

}  // namespace heddle::bare
