// SPDX-License-Identifier: BSD-3-Clause
// host_facts.h - what one host tells about itself when several are compared.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::tools {

/// An object of texts by name under "facts" (those of hosts that work together well are alike), and
/// lists of this host's addresses by interface under "addresses". Changes this process's
/// environment. Never throws but for want of memory: what cannot be found out is said to be.
[[nodiscard]] nlohmann::ordered_json facts_of_this_host();

/// What a host has told.
struct host_report {
  std::string name;  ///< as the job's starter gave it
  nlohmann::ordered_json told;
};

/// For people: each fact once where all hosts agree; otherwise marked, with each value and the
/// hosts that have it, most first. Then all addresses.
[[nodiscard]] std::string compare_hosts(const std::vector<host_report>& hosts);

}  // namespace heddle::tools
