// SPDX-License-Identifier: BSD-3-Clause
#include "run/job_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bootstrap/launcher_protocol.h"
#include "bootstrap/ways.h"
#include "exit_status.h"

namespace heddle::tools {

namespace protocol = bootstrap::protocol;

namespace {

constexpr std::array own_names{protocol::fd_variable, protocol::rank_variable,
                               protocol::size_variable};

std::string_view name_in(std::string_view pair) {
  return pair.substr(0, pair.find('='));
}

/// Whether the name means something on one host, or to one login, only.
bool belongs_to_host(std::string_view name) {
  static constexpr std::array<std::string_view, 16> names{
      "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "HOSTNAME", "TMPDIR",
      "PWD",     "OLDPWD",          "SHLVL",      "_",        "HOME",
      "USER",    "LOGNAME",         "SHELL",      "MAIL",     "TTY",
      "GPG_TTY"};
  static constexpr std::array<std::string_view, 3> beginnings{"SSH_", "XDG_", "DBUS_"};
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(beginnings.begin(), beginnings.end(), begins);
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** pair = environ; pair != nullptr && *pair != nullptr; ++pair) all.emplace_back(*pair);
  return all;
}

bool sets(const std::vector<std::string>& environment, std::string_view name) {
  return std::any_of(environment.begin(), environment.end(),
                     [&](const std::string& pair) { return name_in(pair) == name; });
}

}  // namespace

void check_settings(const std::vector<std::string>& added) {
  for (const std::string& pair : added) {
    if (pair.find('=') == std::string::npos || pair.front() == '=')
      throw usage_error(fmt::format("--env: '{}' sets no variable: write NAME=value", pair));
    for (const char* own : own_names)
      if (name_in(pair) == own)
        throw usage_error(fmt::format("--env: {} is set by the launcher for each rank", own));
  }
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> all = own_environment();
  std::erase_if(all, [&](const std::string& pair) {
    const auto name = name_in(pair);
    return sets(added, name) || name == bootstrap::boot_variable ||
           std::find(own_names.begin(), own_names.end(), name) != own_names.end();
  });
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

std::vector<std::string> environment_to_send(const std::vector<std::string>& added) {
  std::vector<std::string> all = environment_with(added);
  std::erase_if(all, [&](const std::string& pair) {
    return belongs_to_host(name_in(pair)) && !sets(added, name_in(pair));
  });
  return all;
}

std::vector<std::string> environment_on_host(const std::vector<std::string>& sent,
                                             const std::string& directory) {
  std::vector<std::string> all = sent;
  if (!sets(sent, "PWD")) all.push_back("PWD=" + directory);
  for (const std::string& pair : own_environment())
    if (belongs_to_host(name_in(pair)) && !sets(all, name_in(pair))) all.push_back(pair);
  return all;
}

std::string path_in(const std::vector<std::string>& environment) {
  constexpr std::string_view name = "PATH=";
  for (const std::string& pair : environment)
    if (pair.starts_with(name)) return pair.substr(name.size());
  return "/usr/local/bin:/usr/bin:/bin";
}

}  // namespace heddle::tools
