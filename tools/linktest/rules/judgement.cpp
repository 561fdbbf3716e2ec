// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/rules/judgement.h"

#include <vector>

namespace heddle::linktest {
namespace {

/// What a rank's pairs say of it.
struct standing {
  bool answers = false;  // something was measured by it
  bool damaged = false;  // or arrived, though not as it was sent
  bool missed = false;   // by one that answers
  std::set<int> lost;    // to it, or it to them
};

template <class Each>
void for_all_known(const results& all, const Each& each) {
  for (std::size_t s = 0; s < all.sizes().size(); ++s)
    all.for_known(s, [&](int r, int p, const pair_record& one) {
      if (r != p) each(static_cast<std::size_t>(r), static_cast<std::size_t>(p), one.state);
    });
}

std::vector<standing> standings(const results& all) {
  std::vector<standing> out(static_cast<std::size_t>(all.ranks()));
  for_all_known(all, [&](std::size_t r, std::size_t, pair_state state) {
    out[r].answers |= state == pair_state::measured;
    out[r].damaged |= state == pair_state::corrupted;
  });
  for_all_known(all, [&](std::size_t r, std::size_t p, pair_state state) {
    if (state != pair_state::lost) return;
    out[r].lost.insert(static_cast<int>(p));
    out[p].lost.insert(static_cast<int>(r));
    out[p].missed |= out[r].answers;
  });
  return out;
}

/// Of two that were lost to each other nobody knows whose fault it is. What others had measured
/// with a rank before it was lost is there still.
bool is_gone(const standing& of) {
  return !of.answers && !of.damaged && of.missed && of.lost.size() >= 2;
}

bool accuses_a_host(const verdict& v) noexcept {
  return v.what != culprit::link && v.what != culprit::contention;
}

}  // namespace

std::set<int> ranks_gone(const results& all) {
  const std::vector<standing> ranks = standings(all);
  std::set<int> gone;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (is_gone(ranks[r])) gone.insert(static_cast<int>(r));
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
