// SPDX-License-Identifier: BSD-3-Clause
// gups.cpp - runs on fresh tables, and what they must have left behind.
#include "kernels/gups.h"

#include "harness/threads.h"

namespace heddle::bench {

gups_rounds::gups_rounds(everybody& all, std::span<std::uint64_t> table, const spec& s, int ranks,
                         int rank, update own)
    : all_(all),
      table_(table),
      plan_{.ranks = ranks,
            .threads = s.threads,
            .words = table.size(),
            .first = far_from_the_beginning},
      rank_(rank),
      pacer_(table.size(), s.threads, s.time, s.full),
      update_(std::move(own)) {}

round_result gups_rounds::next() {
  while (pacer_.learning()) pacer_.end_run(run());
  const double seconds = std::max(run(), 1e-9);
  return {{updates_of_all() / seconds * 1e-9, lost_share()}};
}

double gups_rounds::updates_of_all() const {
  return static_cast<double>(plan_.pieces() * plan_.updates);
}

/// The seconds of the slowest rank.
double gups_rounds::run() {
  reset_table(table_);
  plan_.first += plan_.pieces() * plan_.updates;
  plan_.updates = pacer_.updates();
  all_.meet();
  const clock::time_point begin = clock::now();
  on_threads(plan_.threads, [this](int t) { update_(plan_, t); });
  return all_.largest(seconds_between(begin, clock::now()));
}

double gups_rounds::lost_share() {
  all_.meet();
  return static_cast<double>(all_.sum(count_lost(table_, plan_, rank_))) / updates_of_all();
}

}  // namespace heddle::bench
