// SPDX-License-Identifier: BSD-3-Clause
// judgement.h - what a run's facts and results come to: its exit status, and hosts to take out of
// service.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// What the program ends with after such a run, unless a signal ended it or its files could not be
/// written.
[[nodiscard]] exit_status status_of(const run_facts& facts, const results& all);

/// Ranks of which nothing was measured, while pairs with two others or more were lost: with one
/// other nobody knows whose fault it is. None where it is so with every rank.
[[nodiscard]] std::set<int> ranks_gone(const results& all);

/// Hosts with a rank that a verdict accuses (of a node or a rail; a link or contention accuses no
/// host), or with one that is gone; each once, in the order of their first ranks.
[[nodiscard]] std::vector<std::string> hosts_to_drain(const run_facts& facts, const results& all);
/// The same with a line for each.
[[nodiscard]] std::string to_drain_list(const run_facts& facts, const results& all);

}  // namespace heddle::linktest
