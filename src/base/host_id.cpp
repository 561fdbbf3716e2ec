// SPDX-License-Identifier: BSD-3-Clause
#include "base/host_id.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace heddle {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

// Where /proc is hidden, the host's name has to do: better a wrong "other host" than none.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  return std::getline(file, id) && !id.empty() ? id : host_name();
}

std::string network_namespace() {
  struct stat found {};
  if (stat("/proc/self/ns/net", &found) != 0) return "net:unknown";
  return fmt::format("net:{}:{}", found.st_dev, found.st_ino);
}

}  // namespace

host_identity this_host(const std::string& override) {
  if (!override.empty()) return {boot_id() + "/host:" + override, override};
  return {boot_id() + "/" + network_namespace(), host_name()};
}

}  // namespace heddle
