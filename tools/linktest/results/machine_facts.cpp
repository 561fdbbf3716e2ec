// SPDX-License-Identifier: BSD-3-Clause
// machine_facts.cpp - asks hwloc, /sys and the environment.
#include "linktest/results/machine_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heddle/info.h>
#include <heddle/status.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

namespace heddle::linktest {
namespace {

namespace fs = std::filesystem;
using topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

enum class devices : std::uint8_t { left_out, looked_at };

/// Devices are looked at by one rank of a host: that reads the configuration of each, one word
/// after the other, which takes milliseconds of a core and on a virtual machine tens of them.
topology look(devices wanted) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return {nullptr, &hwloc_topology_destroy};
  topology loaded(made, &hwloc_topology_destroy);
  if (wanted == devices::looked_at)
    hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(made) != 0) loaded.reset();
  return loaded;
}

std::string line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void tell_system(std::vector<named_text>& out) {
  utsname own{};
  if (uname(&own) == 0) {
    out.push_back({"kernel", own.release});
    out.push_back({"architecture", own.machine});
  }
  constexpr double gib = 1024.0 * 1024 * 1024;
  const auto bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  out.push_back({"memory", fmt::format("{:.1f} GiB", bytes / gib)});
}

void tell_processor(hwloc_topology_t from, std::vector<named_text>& out) {
  for (const hwloc_obj_t part :
       {hwloc_get_obj_by_type(from, HWLOC_OBJ_PACKAGE, 0), hwloc_get_root_obj(from)}) {
    const char* model = part != nullptr ? hwloc_obj_get_info_by_name(part, "CPUModel") : nullptr;
    if (model == nullptr) continue;
    out.push_back({"processor", model});
    break;
  }
  const auto count = [from](hwloc_obj_type_t type, const char* what) {
    const int n = std::max(0, hwloc_get_nbobjs_by_type(from, type));
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  out.push_back(
      {"cores",
       fmt::format("{} with {}, {}, {}", count(HWLOC_OBJ_CORE, "core"), count(HWLOC_OBJ_PU, "CPU"),
                   count(HWLOC_OBJ_PACKAGE, "package"), count(HWLOC_OBJ_NUMANODE, "NUMA node"))});
}

/// "NUMA node 1", "no NUMA node of its own" where several are as near.
std::string numa_place(hwloc_topology_t from, hwloc_obj_t device) {
  const hwloc_obj_t around = hwloc_get_non_io_ancestor_obj(from, device);
  if (around == nullptr || around->nodeset == nullptr || hwloc_bitmap_weight(around->nodeset) != 1)
    return "no NUMA node of its own";
  return fmt::format("NUMA node {}", hwloc_bitmap_first(around->nodeset));
}

std::string speed_of(const std::string& interface) {
  const fs::path folder = fs::path("/sys/class/net") / interface;
  const std::string megabits = line_of(folder / "speed");
  const bool known = !megabits.empty() && megabits.front() != '-';
  return fmt::format("{}, {}", known ? megabits + " Mb/s" : "speed not told",
                     line_of(folder / "operstate"));
}

/// Ports of InfiniBand and RoCE: "port 1 100 Gb/sec (4X EDR), 4: ACTIVE".
std::string ports_of(const std::string& card) {
  std::vector<std::string> ports;
  std::error_code none;
  for (const auto& port : fs::directory_iterator("/sys/class/infiniband/" + card + "/ports", none))
    ports.push_back(fmt::format("port {} {}, {}", port.path().filename().string(),
                                line_of(port.path() / "rate"), line_of(port.path() / "state")));
  std::sort(ports.begin(), ports.end());
  return fmt::format("{}", fmt::join(ports, "; "));
}

void tell_cards(hwloc_topology_t from, std::map<std::string, std::string>& cards) {
  for (hwloc_obj_t one = nullptr; (one = hwloc_get_next_osdev(from, one)) != nullptr;) {
    if (one->name == nullptr) continue;
    const auto type = one->attr->osdev.type;
    if (type == HWLOC_OBJ_OSDEV_NETWORK)
      cards[one->name] = fmt::format("{}, {}", speed_of(one->name), numa_place(from, one));
    if (type == HWLOC_OBJ_OSDEV_OPENFABRICS)
      cards[one->name] = fmt::format("{}, {}", ports_of(one->name), numa_place(from, one));
  }
}

/// Those without a card behind them, which hwloc does not list.
void tell_virtual(std::map<std::string, std::string>& cards) {
  std::error_code none;
  for (const auto& one : fs::directory_iterator("/sys/class/net", none)) {
    const std::string name = one.path().filename().string();
    if (name != "lo") cards.emplace(name, speed_of(name) + ", virtual");
  }
}

std::vector<int> cpus_allowed() {
  std::vector<int> cpus;
  constexpr std::size_t most = 8192;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most),
                                                             [](cpu_set_t* p) { CPU_FREE(p); });
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  if (set == nullptr || sched_getaffinity(0, bytes, set.get()) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < most; ++cpu)
    if (CPU_ISSET_S(cpu, bytes, set.get()) != 0) cpus.push_back(static_cast<int>(cpu));
  return cpus;
}

/// The number of the part of `type` around this CPU, or -1.
int around(hwloc_topology_t from, hwloc_obj_type_t type, int cpu) {
  const hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(from, static_cast<unsigned>(cpu));
  const hwloc_obj_t part =
      unit != nullptr ? hwloc_get_ancestor_obj_by_type(from, type, unit) : nullptr;
  return part != nullptr ? static_cast<int>(part->logical_index) : -1;
}

/// The same of the part that all of these are in.
int around_all(hwloc_topology_t from, hwloc_obj_type_t type, const std::vector<int>& cpus) {
  std::set<int> parts;
  for (const int cpu : cpus) parts.insert(around(from, type, cpu));
  return parts.size() == 1 ? *parts.begin() : -1;
}

hwloc_obj_type_t last_cache(hwloc_topology_t from) {
  return hwloc_get_nbobjs_by_type(from, HWLOC_OBJ_L3CACHE) > 0 ? HWLOC_OBJ_L3CACHE
                                                               : HWLOC_OBJ_L2CACHE;
}

std::string shell_word(const std::string& word) {
  constexpr const char* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::vector<named_text> facts_of_machine() {
  std::vector<named_text> out;
  std::map<std::string, std::string> cards;
  if (const topology machine = look(devices::looked_at); machine != nullptr) {
    tell_processor(machine.get(), out);
    tell_cards(machine.get(), cards);
  }
  tell_system(out);
  tell_virtual(cards);
  for (const auto& [name, text] : cards) out.push_back({"network " + name, text});
  return out;
}

rank_place place_of_process() {
  rank_place out;
  const std::vector<int> cpus = cpus_allowed();
  out.cpus = ranges_of(cpus);
  const topology machine = look(devices::left_out);
  if (machine == nullptr || cpus.empty()) return out;
  std::set<int> cores;
  for (const int cpu : cpus) {
    const int core = around(machine.get(), HWLOC_OBJ_CORE, cpu);
    cores.insert(core >= 0 ? core : cpu);
  }
  out.cores.assign(cores.begin(), cores.end());
  out.complex = around_all(machine.get(), last_cache(machine.get()), cpus);
  out.socket = around_all(machine.get(), HWLOC_OBJ_PACKAGE, cpus);
  return out;
}

std::vector<named_text> settings_made() {
  std::vector<named_text> out;
  for (const setting_row& row : list_settings())
    if (row.origin == "environment") out.push_back({row.name, row.value});
  return out;
}

std::string command_of_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(shell_word(word));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string ranges_of(const std::vector<int>& ascending) {
  std::string out;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    out += out.empty() ? "" : ",";
    out += last == i ? fmt::format("{}", ascending[i])
                     : fmt::format("{}-{}", ascending[i], ascending[last]);
    i = last + 1;
  }
  return out;
}

crowding worst_crowding(const run_facts& facts) {
  std::map<std::string, std::set<int>> cores;
  std::map<std::string, std::size_t> ranks;
  for (std::size_t r = 0; r < facts.places.size(); ++r) {
    const std::vector<int>& own = facts.places[r].cores;
    if (own.empty()) continue;
    cores[facts.hosts[r]].insert(own.begin(), own.end());
    ++ranks[facts.hosts[r]];
  }
  crowding worst;
  const auto worse = [&worst](std::size_t n, std::size_t c) {
    return worst.cores == 0 || n * worst.cores > worst.ranks * c;
  };
  for (const auto& [host, n] : ranks)
    if (worse(n, cores[host].size())) worst = {host, n, cores[host].size()};
  return worst;
}

}  // namespace heddle::linktest
