// SPDX-License-Identifier: BSD-3-Clause
// gups.cpp - runs on fresh tables, and what they must have left behind.
#include "kernels/gups.h"

#include "harness/threads.h"

namespace heddle::bench {

namespace {

/// At most 4 updates per word, which in a full round are made however long they take.
pacer pacer_for(const spec& s, std::size_t words) {
  const auto most = std::max<std::uint64_t>(4 * words / static_cast<std::uint64_t>(s.threads), 1);
  return pacer(s, s.full ? most : 1, most);
}

}  // namespace

gups_rounds::gups_rounds(everybody all, std::span<std::uint64_t> table, const spec& s, int ranks,
                         int rank, update own)
    : all_(std::move(all)),
      table_(table),
      plan_{.ranks = ranks,
            .threads = s.threads,
            .words = table.size(),
            .first = far_from_the_beginning},
      rank_(rank),
      pacer_(pacer_for(s, table.size())),
      update_(std::move(own)) {}

round_result gups_rounds::next() {
  pacer_.begin_round();
  while (const std::uint64_t updates = pacer_.count()) {
    const double seconds = run(updates);
    pacer_.end_run(seconds, seconds / updates_of_all());
  }
  all_.meet();
  const auto lost = static_cast<double>(all_.sum(count_lost(table_, plan_, rank_)));
  return {{1e-9 / pacer_.result(), lost / updates_of_all()}};
}

double gups_rounds::updates_of_all() const {
  return static_cast<double>(plan_.pieces() * plan_.updates);
}

/// The seconds of the slowest rank.
double gups_rounds::run(std::uint64_t updates) {
  reset_table(table_);
  plan_.first += plan_.pieces() * plan_.updates;
  plan_.updates = updates;
  all_.meet();
  const clock::time_point begin = clock::now();
  on_threads(plan_.threads, [this](int t) { update_(plan_, t); });
  return all_.largest(std::max(seconds_between(begin, clock::now()), 1e-9));
}

}  // namespace heddle::bench
