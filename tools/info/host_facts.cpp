// SPDX-License-Identifier: BSD-3-Clause
#include "info/host_facts.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <heddle/info.h>
#include <heddle/status.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "info/limits.h"
#include "info/world_part.h"
#include "run/machine.h"
#include "run/rank_process.h"

namespace heddle::tools {
namespace {

using json = nlohmann::ordered_json;

void tell_software(json& facts) {
  utsname own{};
  facts["heddle"] = version();
  facts["kernel"] = uname(&own) == 0 ? std::string(own.release) : "unknown";
  facts["architecture"] = own.machine;
  facts["libc"] = gnu_get_libc_version();
}

void tell_machine(json& facts) {
  const std::vector<int> cpus = allowed_cpus();
  const machine here = look_at_machine(cpus);
  constexpr double gib = 1024.0 * 1024 * 1024;
  const auto bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  facts["processor"] = here.processor.empty() ? "unknown" : here.processor;
  facts["cores"] = fmt::format("{} with {} of {} cpus", here.cores.size(), cpus.size(),
                               sysconf(_SC_NPROCESSORS_ONLN));
  facts["packages"] = fmt::format("{}", here.packages);
  facts["NUMA nodes"] = fmt::format("{}", here.numa_nodes.size());
  facts["memory"] = fmt::format("{:.1f} GiB", bytes / gib);
}

void tell_limits(json& facts) {
  for (const limit_row& limit : list_limits())
    if (limit.name == "open files" || limit.name == "locked memory" || limit.name == "ptrace scope")
      facts[limit.name] = limit.value;
}

std::string text_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else if (address.sa_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (!IN6_IS_ADDR_LINKLOCAL(&six)) bytes = &six;
  }
  if (bytes == nullptr) return {};
  return inet_ntop(address.sa_family, bytes, text.data(), text.size()) != nullptr ? text.data()
                                                                                  : "";
}

/// Of the interfaces that are up, but for loopback.
json addresses_here() {
  json all = json::object();
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return all;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    const bool usable = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!usable || one->ifa_addr == nullptr) continue;
    const std::string text = text_of(*one->ifa_addr);
    if (!text.empty()) all[one->ifa_name].push_back(text);
  }
  return all;
}

}  // namespace

json facts_of_this_host() {
  json facts = json::object();
  try {
    tell_software(facts);
    tell_machine(facts);
    tell_limits(facts);
#ifdef HEDDLE_INFO_ASKS_WORLD
    for (const auto& [name, state] : try_backends()) facts["backend " + name] = state;
#endif
  } catch (const error& problem) {
    facts["problem"] = problem.what();
  }
  return {{"facts", facts}, {"addresses", addresses_here()}};
}

}  // namespace heddle::tools
