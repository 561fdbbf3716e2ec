// SPDX-License-Identifier: BSD-3-Clause
// gups.h - random updates of words anywhere in the job, in rounds that are verified: the random
// numbers, where each one's update goes, and what must come out.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "harness/pace.h"
#include "harness/partner.h"
#include "harness/rounds.h"
#include "kernels/library.h"

namespace heddle::bench {

/// The sequence of HPCC's RandomAccess: x -> 2x over GF(2), modulo a primitive polynomial.
class gups_stream {
 public:
  /// Begins at the `offset`-th number of the sequence.
  explicit gups_stream(std::uint64_t offset) noexcept : value_(starts(offset)) {}
  [[nodiscard]] std::uint64_t next() noexcept { return value_ = step(value_); }

  /// The number at that place: x to that power, by squaring.
  [[nodiscard]] static std::uint64_t starts(std::uint64_t offset) noexcept {
    std::uint64_t value = 1;
    for (std::uint64_t power = 2; offset != 0; offset >>= 1, power = times(power, power))
      if ((offset & 1) != 0) value = times(value, power);
    return value;
  }

 private:
  static constexpr std::uint64_t polynomial = 7;
  [[nodiscard]] static constexpr std::uint64_t step(std::uint64_t x) noexcept {
    return x << 1 ^ (x >> 63 != 0 ? polynomial : 0);
  }
  [[nodiscard]] static constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t product = 0;
    for (; b != 0; b >>= 1, a = step(a)) product ^= (b & 1) != 0 ? a : 0;
    return product;
  }
  std::uint64_t value_;
};

/// Who updates what: all the same on every rank.
struct gups_plan {
  int ranks = 2;
  int threads = 1;            ///< per rank
  std::uint64_t words = 0;    ///< of each rank's table, a power of two
  std::uint64_t updates = 0;  ///< per thread
  std::uint64_t first = 0;    ///< where in the sequence the first thread's stream begins

  /// How many threads there are in all.
  [[nodiscard]] std::uint64_t pieces() const noexcept {
    return static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(threads);
  }
  /// Each thread has a piece of the sequence of its own.
  [[nodiscard]] gups_stream stream(int rank, int thread) const noexcept {
    const int place = rank * threads + thread;
    return gups_stream(first + static_cast<std::uint64_t>(place) * updates);
  }
  /// The rank that `random` makes `from` update: never itself.
  [[nodiscard]] int target(int from, std::uint64_t random) const noexcept {
    const std::uint64_t above = random >> std::countr_zero(words);
    const auto distance = static_cast<int>(above % static_cast<std::uint64_t>(ranks - 1)) + 1;
    return (from + distance) % ranks;
  }
  [[nodiscard]] std::uint64_t index(std::uint64_t random) const noexcept {
    return random & (words - 1);
  }
};

/// The first numbers of the sequence, and those at powers of two, have few bits set: most of them
/// would name word 0. These are the digits of pi.
inline constexpr std::uint64_t far_from_the_beginning = 0x243f6a8885a308d3;

/// The share of the updates that may be lost: by get and put some, because others come between.
[[nodiscard]] constexpr double tolerated_losses(bool atomic) noexcept {
  return atomic ? 0 : 0.01;
}

/// `memory_bytes` halved and rounded down to a power of two, in words.
[[nodiscard]] inline std::uint64_t gups_words(std::uint64_t memory_bytes) noexcept {
  return std::bit_floor(std::max<std::uint64_t>(memory_bytes / 2 / sizeof(std::uint64_t), 1));
}

/// Word i holds i.
inline void reset_table(std::span<std::uint64_t> table) noexcept {
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = i;
}

/// Applies again every update that `plan` makes to the table of `rank`, which must give back what
/// reset_table wrote: how many words do not hold it, because an update of theirs was lost.
[[nodiscard]] inline std::uint64_t count_lost(std::span<std::uint64_t> table, const gups_plan& plan,
                                              int rank) noexcept {
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

/// All that `plan` gives this thread of `rank`, until they are known to be complete. `word(r, i)`
/// is the place of word i at rank r. An update is a get, an xor and a put that has ended; or one
/// remote xor, in a window.
template <class Path, class Word>
void gups_updates(Path& path, const gups_plan& plan, int rank, int thread, bool atomic,
                  Word&& word) {
  gups_stream numbers = plan.stream(rank, thread);
  for (std::uint64_t i = 0; i < plan.updates; ++i) {
    const std::uint64_t random = numbers.next();
    const auto at = word(plan.target(rank, random), plan.index(random));
    if (atomic) {
      path.exclusive_or(random, at);
    } else {
      path.put_word(path.get_word(at) ^ random, at);
      path.drain();
    }
  }
  path.drain();
}

/// What all ranks of a job do together between runs: each gives a number, and learns those of all.
using everybody = std::function<std::vector<double>(double mine)>;

/// The two ranks of a pair; `other` must outlive it.
inline everybody both_ranks(partner& other) {
  return [&other](double mine) { return std::vector{mine, swap(other, mine)}; };
}

/// The rounds of one thread count, the same on every rank.
class gups_rounds {
 public:
  using update = std::function<void(const gups_plan&, int thread)>;

  /// The table is this rank's. `own` is called on each thread.
  gups_rounds(everybody all, std::span<std::uint64_t> table, const spec& s, int ranks, int rank,
              update own)
      : all_(std::move(all)),
        table_(table),
        plan_{.ranks = ranks,
              .threads = s.threads,
              .words = table.size(),
              .first = far_from_the_beginning},
        rank_(rank),
        pacer_(pacer_for(s, table.size())),
        update_(std::move(own)) {}
  /// Collective: 10^9 updates per second of the whole job, and the share of them that was lost.
  round_result next() {
    pacer_.begin_round();
    while (const std::uint64_t updates = pacer_.count()) {
      const double seconds = run(updates);
      pacer_.end_run(seconds, seconds / updates_of_all());
    }
    (void)all_(0);  // every update has been made
    const auto lost = all_(static_cast<double>(count_lost(table_, plan_, rank_)));
    return {{1e-9 / pacer_.result(),
             std::accumulate(lost.begin(), lost.end(), 0.0) / updates_of_all()}};
  }

 private:
  /// At most 4 updates per word, which in a full round are made however long they take.
  static pacer pacer_for(const spec& s, std::size_t words) {
    const auto most = std::max<std::uint64_t>(4 * words / static_cast<std::uint64_t>(s.threads), 1);
    return pacer(s, s.full ? most : 1, most);
  }
  [[nodiscard]] double updates_of_all() const {
    return static_cast<double>(plan_.pieces() * plan_.updates);
  }
  /// The seconds of the slowest rank.
  double run(std::uint64_t updates) {
    reset_table(table_);
    plan_.first += plan_.pieces() * plan_.updates;
    plan_.updates = updates;
    (void)all_(0);  // every table is fresh
    const clock::time_point begin = clock::now();
    on_threads(plan_.threads, [this](int t) { update_(plan_, t); });
    return std::ranges::max(all_(std::max(seconds_between(begin, clock::now()), 1e-9)));
  }

  const everybody all_;
  const std::span<std::uint64_t> table_;
  gups_plan plan_;
  const int rank_;
  pacer pacer_;
  const update update_;
};

}  // namespace heddle::bench
