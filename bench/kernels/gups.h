// SPDX-License-Identifier: BSD-3-Clause
// gups.h - random updates of words anywhere in the job, in rounds that are verified.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harness/pace.h"
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
