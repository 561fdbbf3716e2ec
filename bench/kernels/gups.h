// SPDX-License-Identifier: BSD-3-Clause
// gups.h - random updates of words anywhere in the job, in rounds that are verified.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harness/pacer.h"
#include "harness/partner.h"
#include "harness/rounds.h"
#include "kernels/gups_stream.h"
#include "kernels/library.h"

namespace heddle::bench {

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

/// All ranks of a job, between runs. Collective.
class everybody {
 public:
  virtual ~everybody() = default;
  virtual void meet() = 0;
  /// The largest and the sum of what each rank gives, on every rank.
  [[nodiscard]] virtual double largest(double mine) = 0;
  [[nodiscard]] virtual std::uint64_t sum(std::uint64_t mine) = 0;
};

/// The two ranks of a pair.
class both_ranks final : public everybody {
 public:
  explicit both_ranks(partner& other) : other_(other) {}
  void meet() override { (void)swap(other_, true); }
  double largest(double mine) override { return std::max(mine, swap(other_, mine)); }
  std::uint64_t sum(std::uint64_t mine) override { return mine + swap(other_, mine); }

 private:
  partner& other_;
};

/// The rounds of one thread count, the same on every rank.
class gups_rounds {
 public:
  using update = std::function<void(const gups_plan&, int thread)>;

  /// The table is this rank's. `own` is called on each thread.
  gups_rounds(everybody& all, std::span<std::uint64_t> table, const spec& s, int ranks, int rank,
              update own);
  /// Collective: 10^9 updates per second of the whole job, and the share of them that was lost.
  round_result next();

 private:
  [[nodiscard]] double updates_of_all() const;
  double run(std::uint64_t updates);

  everybody& all_;
  const std::span<std::uint64_t> table_;
  gups_plan plan_;
  const int rank_;
  pacer pacer_;
  const update update_;
};

}  // namespace heddle::bench
