// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/rules/judgement.h"

#include <vector>

namespace heddle::linktest {
namespace {

/// Whether the rank's own measurements are there.
bool answers(const results& all, int rank) {
  for (std::size_t s = 0; s < all.sizes().size(); ++s)
    for (int p = 0; p < all.ranks(); ++p)
      if (p != rank && all.at(s, rank, p).state == pair_state::measured) return true;
  return false;
}

/// Of two that were lost to each other nobody knows whose fault it is. What others had measured
/// with a rank before it was lost is there still.
bool is_gone(const results& all, int rank, const std::vector<bool>& answering) {
  std::set<int> lost;
  bool missed = false;  // by one that answers
  for (std::size_t s = 0; s < all.sizes().size(); ++s) {
    for (int p = 0; p < all.ranks(); ++p) {
      if (p == rank) continue;
      const pair_state own = all.at(s, rank, p).state, its = all.at(s, p, rank).state;
      if (own != pair_state::lost && own != pair_state::unmeasured) return false;
      if (own == pair_state::lost || its == pair_state::lost) lost.insert(p);
      missed |= its == pair_state::lost && answering[static_cast<std::size_t>(p)];
    }
  }
  return missed && lost.size() >= 2;
}

bool accuses_a_host(const verdict& v) noexcept {
  return v.what != culprit::link && v.what != culprit::contention;
}

}  // namespace

std::set<int> ranks_gone(const results& all) {
  std::vector<bool> answering;
  for (int r = 0; r < all.ranks(); ++r) answering.push_back(answers(all, r));
  std::set<int> gone;
  for (int r = 0; r < all.ranks(); ++r)
    if (is_gone(all, r, answering)) gone.insert(r);
  return gone;
}

exit_status status_of(const run_facts& facts, const results& all) {
  if (const exit_status measured = verdict_of(all); measured != success) return measured;
  if (facts.slow && found_slow_part(*facts.slow)) return slow_part;
  return facts.missed.empty() ? success : rule_missed;
}

std::vector<std::string> hosts_to_drain(const run_facts& facts, const results& all) {
  std::set<std::string> bad;
  for (const int r : ranks_gone(all)) bad.insert(facts.hosts[static_cast<std::size_t>(r)]);
  if (facts.slow)
    for (const verdict& v : facts.slow->verdicts)
      if (accuses_a_host(v)) bad.insert(facts.hosts.at(static_cast<std::size_t>(v.node)));
  std::vector<std::string> out = each_host(facts.hosts);
  std::erase_if(out, [&bad](const std::string& host) { return !bad.contains(host); });
  return out;
}

std::string to_drain_list(const run_facts& facts, const results& all) {
  std::string out;
  for (const std::string& host : hosts_to_drain(facts, all)) out += host + '\n';
  return out;
}

}  // namespace heddle::linktest
