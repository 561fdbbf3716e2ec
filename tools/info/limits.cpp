// SPDX-License-Identifier: BSD-3-Clause
#include "info/limits.h"

#include <fmt/format.h>
#include <heddle/types.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "bootstrap/launcher_protocol.h"

namespace heddle::tools {
namespace {

std::string resource(__rlimit_resource which) {
  rlimit found{};
  if (getrlimit(which, &found) != 0) return "unknown";
  return found.rlim_cur == RLIM_INFINITY ? "unlimited" : fmt::format("{}", found.rlim_cur);
}

std::string allowed_cpu_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "unknown";
  return fmt::format("{}", CPU_COUNT(&set));
}

// What the Yama module lets processes of one user do to each other's memory.
std::string ptrace_scope() {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  std::string scope;
  return std::getline(file, scope) ? scope : "not restricted";
}

}  // namespace

std::vector<limit_row> list_limits() {
  return {
      {"ranks of a job", fmt::format("{}", bootstrap::protocol::max_ranks), "heddle run -n"},
      {"user tag bits", "63", "largest tag of send and recv"},
      {"call header bytes", fmt::format("{}", max_call_header), "beside an active message"},
      {"call handlers", fmt::format("{}", max_handlers), "numbers for active messages"},
      {"cpus", allowed_cpu_count(), "this process may run on"},
      {"open files", resource(RLIMIT_NOFILE), "descriptors of a process"},
      {"locked memory", resource(RLIMIT_MEMLOCK), "bytes"},
      {"ptrace scope", ptrace_scope(), "1 or more hinders copies straight between processes"},
  };
}

}  // namespace heddle::tools
