// SPDX-License-Identifier: BSD-3-Clause
// groups.cpp - reads a file of groups, and looks hosts up in them.
#include "linktest/groups.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "exit_status.h"
#include "linktest/file_lines.h"
#include "run/hosts.h"

namespace heddle::linktest {
namespace {

constexpr const char* form = "a line is 'NAME: HOSTS', such as 'rack1: n[01-16],login'";

/// What a name may be: nothing that a table or a command line could take for more.
bool is_name(const std::string& text) {
  const auto fits = [](char c) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return word || std::string_view("-._/").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), fits);
}

std::vector<tools::host_slots> hosts_in(const std::string& list, const std::string& line) {
  try {
    return tools::parse_hosts(list);
  } catch (const tools::usage_error& why) {
    throw error(fmt::format("'{}': {}; {}", line, why.what(), form));
  }
}

/// What has been read of a file, and on which lines.
class groups_read {
 public:
  void add(host_group group, int line) {
    if (const auto [known, is_new] = line_of_name_.emplace(group.name, line); !is_new)
      throw error(fmt::format("group '{}' stands on line {} already; name its hosts on one line",
                              group.name, known->second));
    for (const std::string& host : group.hosts)
      if (const auto [known, is_new] = line_of_host_.emplace(host, line); !is_new)
        throw error(
            fmt::format("host '{}' is in the group of line {} already; leave it in one of them",
                        host, known->second));
    groups_.push_back(std::move(group));
  }
  [[nodiscard]] std::vector<host_group> take() { return std::move(groups_); }

 private:
  std::vector<host_group> groups_;
  std::unordered_map<std::string, int> line_of_name_, line_of_host_;
};

}  // namespace

host_group parse_group(const std::string& line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) throw error(fmt::format("'{}': no ':' in it; {}", line, form));
  host_group out{trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)), {}};
  if (!is_name(out.name))
    throw error(fmt::format(
        "'{}': '{}' is no name of a group; give letters, digits and any of -._/", line, out.name));
  if (out.list.empty()) throw error(fmt::format("'{}': no hosts behind the ':'; {}", line, form));
  for (const tools::host_slots& host : hosts_in(out.list, line)) {
    if (host.slots != 1)
      throw error(fmt::format(
          "'{}': host '{}' has a number of ranks, or stands there twice; name it once, alone", line,
          host.name));
    out.hosts.push_back(host.name);
  }
  return out;
}

std::string text_of(const host_group& group) {
  return fmt::format("{}: {}", group.name, group.list);
}

std::vector<host_group> read_groups(const std::string& path) {
  groups_read so_far;
  for (const file_line& line : lines_of_file(path)) {
    try {
      so_far.add(parse_group(line.text), line.number);
    } catch (const error& why) {
      throw error(fmt::format("{}:{}: {}", path, line.number, why.what()));
    }
  }
  std::vector<host_group> out = so_far.take();
  if (out.empty()) throw error(fmt::format("{}: there is no group in this file; {}", path, form));
  return out;
}

std::vector<int> group_of_each(const std::vector<host_group>& groups,
                               const std::vector<std::string>& hosts) {
  std::unordered_map<std::string_view, int> group_of_host;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::string& host : groups[g].hosts)
      group_of_host.emplace(host, static_cast<int>(g));
  std::vector<int> out;
  for (const std::string& host : hosts) {
    const auto found = group_of_host.find(host);
    out.push_back(found == group_of_host.end() ? -1 : found->second);
  }
  return out;
}

}  // namespace heddle::linktest
