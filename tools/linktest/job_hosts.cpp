// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/job_hosts.h"

#include "linktest/results/run_facts.h"

namespace heddle::linktest {
namespace {

std::vector<std::string> names_of(const world& job) {
  std::vector<std::string> names;
  for (rank r = 0; r < job.size(); ++r) names.push_back(job.host(r));
  return names;
}

}  // namespace

std::vector<std::string> hosts_of(const world& job) {
  return tell_apart(names_of(job), host_numbers_of(job));
}

std::vector<int> host_numbers_of(const world& job) {
  std::vector<int> numbers;
  for (rank r = 0; r < job.size(); ++r) numbers.push_back(job.host_number(r));
  return numbers;
}

std::vector<int> groups_of(const world& job, const std::vector<host_group>& groups) {
  return groups.empty() ? std::vector<int>{} : group_of_each(groups, names_of(job));
}

}  // namespace heddle::linktest
