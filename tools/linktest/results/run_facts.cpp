// SPDX-License-Identifier: BSD-3-Clause
// run_facts.cpp - names of hosts, dates, and how a run went.
#include "linktest/results/run_facts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <map>
#include <set>

namespace heddle::linktest {

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::vector<std::string> tell_apart(const std::vector<std::string>& names,
                                    const std::vector<int>& numbers) {
  std::map<std::string, std::set<int>> called;
  for (std::size_t r = 0; r < names.size(); ++r) called[names[r]].insert(numbers[r]);
  std::vector<std::string> out;
  for (std::size_t r = 0; r < names.size(); ++r)
    out.push_back(called[names[r]].size() == 1 ? names[r]
                                               : fmt::format("{}#{}", names[r], numbers[r]));
  return out;
}

std::vector<std::string> each_host(const std::vector<std::string>& hosts) {
  std::vector<std::string> each;
  std::set<std::string> known;
  for (const std::string& host : hosts)
    if (known.insert(host).second) each.push_back(host);
  return each;
}

exit_status verdict_of(const results& all) {
  if (all.count(pair_state::corrupted) > 0) return corrupted;
  return all.missing() > 0 ? incomplete : success;
}

}  // namespace heddle::linktest
