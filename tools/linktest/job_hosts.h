// SPDX-License-Identifier: BSD-3-Clause
// job_hosts.h - on which hosts the ranks of a job run, and in which groups these are.
#pragma once
#include <heddle/world.h>

#include <string>
#include <vector>

#include "linktest/groups.h"

namespace heddle::linktest {

/// The names of the ranks' hosts, by rank, such that two hosts of one name differ.
[[nodiscard]] std::vector<std::string> hosts_of(const world& job);
/// The numbers of the ranks' hosts, by rank.
[[nodiscard]] std::vector<int> host_numbers_of(const world& job);
/// The indices of their groups, by rank, -1 for a host that is in none; empty without groups.
[[nodiscard]] std::vector<int> groups_of(const world& job, const std::vector<host_group>& groups);

}  // namespace heddle::linktest
