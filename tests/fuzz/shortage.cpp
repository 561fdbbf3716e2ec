// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/shortage.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace heddle::fuzz {
namespace {

rlim_t open_descriptors() {
  rlim_t highest = 0;
  DIR* const all = opendir("/proc/self/fd");
  for (const dirent* e = nullptr; all != nullptr && (e = readdir(all)) != nullptr;)
    highest = std::max(highest, static_cast<rlim_t>(std::strtoul(e->d_name, nullptr, 10)));
  if (all != nullptr) closedir(all);
  return highest + 1;
}

rlim_t mapped_bytes() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// No further than its hard limit.
void limit(__rlimit_resource_t what, rlim_t to) {
  rlimit now{};
  getrlimit(what, &now);
  now.rlim_cur = std::min(to, now.rlim_max);
  setrlimit(what, &now);
}

}  // namespace

void begin_shortage(const plan& p, int rank) {
  for (const setting& s : p.settings) {
    if (s.rank != rank && s.rank != all_ranks) continue;
    const auto more = [&] { return static_cast<rlim_t>(std::stoul(s.value)); };
    if (s.name == "ulimit_descriptors") limit(RLIMIT_NOFILE, open_descriptors() + more());
    if (s.name == "ulimit_megabytes") limit(RLIMIT_AS, mapped_bytes() + (more() << 20));
  }
}

void end_shortage() {
  limit(RLIMIT_NOFILE, RLIM_INFINITY);
  limit(RLIMIT_AS, RLIM_INFINITY);
}

}  // namespace heddle::fuzz
