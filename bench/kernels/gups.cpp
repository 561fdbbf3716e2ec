// SPDX-License-Identifier: BSD-3-Clause
// gups.cpp - jumping ahead in the sequence, runs on fresh tables, and undoing their updates by
// repeating them.
#include "kernels/gups.h"

#include <array>
#include <bit>

#include "harness/pace.h"

namespace heddle::bench {
namespace {

/// At most 4 updates per word, which in a full round are made however long they take.
pacer pacer_for(const spec& s, std::size_t words) {
  const auto most = std::max<std::uint64_t>(4 * words / static_cast<std::uint64_t>(s.threads), 1);
  return pacer(s, s.full ? most : 1, most);
}

}  // namespace

/// By squaring: powers[i] is the sequence after 2i steps, that is x^(2i), so summing powers[i] for
/// the bits i of x^k gives x^(2k).
std::uint64_t gups_stream::starts(std::uint64_t offset) noexcept {
  std::array<std::uint64_t, 64> powers{};
  std::uint64_t power = 1;
  for (std::uint64_t& p : powers) {
    p = power;
    power = step(step(power));
  }
  std::uint64_t x = 1;
  for (int bit = static_cast<int>(std::bit_width(offset)) - 1; bit >= 0; --bit) {
    std::uint64_t squared = 0;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (x >> i & 1) squared ^= powers[i];
    }
    x = offset >> bit & 1 ? step(squared) : squared;
  }
  return x;
}

gups_stream gups_plan::stream(int rank, int thread) const noexcept {
  const int place = rank * threads + thread;
  return gups_stream(first + static_cast<std::uint64_t>(place) * updates);
}

int gups_plan::target(int from, std::uint64_t random) const noexcept {
  const std::uint64_t above = random >> std::countr_zero(words);
  const auto distance = static_cast<int>(above % static_cast<std::uint64_t>(ranks - 1)) + 1;
  return (from + distance) % ranks;
}

std::uint64_t gups_words(std::uint64_t memory_bytes) noexcept {
  return std::bit_floor(std::max<std::uint64_t>(memory_bytes / 2 / sizeof(std::uint64_t), 1));
}

void reset_table(std::span<std::uint64_t> table) noexcept {
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = i;
}

std::uint64_t count_lost(std::span<std::uint64_t> table, const gups_plan& plan, int rank) noexcept {
  for (int from = 0; from < plan.ranks; ++from) {
    if (from == rank) continue;
    for (int t = 0; t < plan.threads; ++t) {
      gups_stream numbers = plan.stream(from, t);
      for (std::uint64_t i = 0; i < plan.updates; ++i) {
        const std::uint64_t random = numbers.next();
        if (plan.target(from, random) == rank) table[plan.index(random)] ^= random;
      }
    }
  }
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < table.size(); ++i) lost += table[i] == i ? 0 : 1;
  return lost;
}

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
