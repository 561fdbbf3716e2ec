// SPDX-License-Identifier: BSD-3-Clause
// groups.h - which hosts share a switch or a cabinet, as the operator says it.
#pragma once
#include <string>
#include <vector>

namespace heddle::linktest {

struct host_group {
  std::string name;
  std::string list;                ///< its hosts as written: "n[01-16],login"
  std::vector<std::string> hosts;  ///< the same, each once
};

/// "NAME: HOSTS", the hosts as --hosts takes them. Throws error naming the text and what is
/// accepted.
[[nodiscard]] host_group parse_group(const std::string& line);
/// What parse_group() reads.
[[nodiscard]] std::string text_of(const host_group& group);

/// The groups of a file, one on each line, but for empty lines and what follows a '#'. Throws error
/// naming the file, the line and the cure; no two groups have a name or a host in common.
[[nodiscard]] std::vector<host_group> read_groups(const std::string& path);

/// For each host the index of its group, or -1.
[[nodiscard]] std::vector<int> group_of_each(const std::vector<host_group>& groups,
                                             const std::vector<std::string>& hosts);

}  // namespace heddle::linktest
