// SPDX-License-Identifier: BSD-3-Clause
// gups.h - random updates of words anywhere in the job, in rounds that are verified: the random
// numbers, where each one's update goes, and what must come out.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harness/pace.h"
#include "harness/partner.h"
#include "harness/rounds.h"
#include "kernels/library.h"

namespace heddle::bench {

/// The sequence of HPCC's RandomAccess: x -> 2x over GF(2), modulo a primitive polynomial.
class gups_stream {
 public:
  /// Begins at the `offset`-th number of the sequence, in about 64 steps.
  explicit gups_stream(std::uint64_t offset) noexcept : value_(starts(offset)) {}
  [[nodiscard]] std::uint64_t next() noexcept { return value_ = step(value_); }

  [[nodiscard]] static std::uint64_t starts(std::uint64_t offset) noexcept;

 private:
  static constexpr std::uint64_t polynomial = 7;
  [[nodiscard]] static constexpr std::uint64_t step(std::uint64_t x) noexcept {
    return x << 1 ^ (x >> 63 != 0 ? polynomial : 0);
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
  [[nodiscard]] gups_stream stream(int rank, int thread) const noexcept;
  /// The rank that `random` makes `from` update: never itself.
  [[nodiscard]] int target(int from, std::uint64_t random) const noexcept;
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
[[nodiscard]] std::uint64_t gups_words(std::uint64_t memory_bytes) noexcept;

/// Word i holds i.
void reset_table(std::span<std::uint64_t> table) noexcept;

/// Applies again every update that `plan` makes to the table of `rank`, which must give back what
/// reset_table wrote: how many words do not hold it, because an update of theirs was lost.
[[nodiscard]] std::uint64_t count_lost(std::span<std::uint64_t> table, const gups_plan& plan,
                                       int rank) noexcept;

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

/// What all ranks of a job do together between runs.
struct everybody {
  std::function<void()> meet;
  /// The largest and the sum of what each rank gives, on every rank.
  std::function<double(double mine)> largest;
  std::function<std::uint64_t(std::uint64_t mine)> sum;
};

/// The two ranks of a pair; `other` must outlive it.
inline everybody both_ranks(partner& other) {
  return {[&other] { (void)swap(other, true); },
          [&other](double mine) { return std::max(mine, swap(other, mine)); },
          [&other](std::uint64_t mine) { return mine + swap(other, mine); }};
}

/// The rounds of one thread count, the same on every rank.
class gups_rounds {
 public:
  using update = std::function<void(const gups_plan&, int thread)>;

  /// The table is this rank's. `own` is called on each thread.
  gups_rounds(everybody all, std::span<std::uint64_t> table, const spec& s, int ranks, int rank,
              update own);
  /// Collective: 10^9 updates per second of the whole job, and the share of them that was lost.
  round_result next();

 private:
  [[nodiscard]] double updates_of_all() const;
  double run(std::uint64_t updates);

  const everybody all_;
  const std::span<std::uint64_t> table_;
  gups_plan plan_;
  const int rank_;
  pacer pacer_;
  const update update_;
};

}  // namespace heddle::bench
