// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/pair_list.h"

#include <heddle/status.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::linktest {
namespace {

int rank_from(double number) {
  if (!(number >= 0) || number >= double{std::numeric_limits<int>::max()})
    throw error("a list of pairs has what is no number of a rank");
  return static_cast<int>(number);
}

}  // namespace

std::vector<std::pair<int, int>> pairs_from(const std::vector<double>& initiators,
                                            const std::vector<double>& peers) {
  if (initiators.size() != peers.size()) throw error("a list of pairs has not two ends for each");
  std::vector<std::pair<int, int>> out;
  for (std::size_t i = 0; i < peers.size(); ++i)
    out.emplace_back(rank_from(initiators[i]), rank_from(peers[i]));
  return out;
}

blocks blocks_of(const results& all, std::size_t size_index, metric m, int each) {
  const auto group = static_cast<std::size_t>(each);
  const std::size_t side = (static_cast<std::size_t>(all.ranks()) + group - 1) / group;
  blocks out{static_cast<int>(side),
             std::vector<double>(side * side, std::numeric_limits<double>::quiet_NaN()),
             std::vector<std::uint8_t>(side * side)};
  const bool least_is_worst = m == metric::bandwidth;
  all.for_known(size_index, [&](int r, int p, const pair_record& one) {
    const std::size_t at =
        static_cast<std::size_t>(r) / group * side + static_cast<std::size_t>(p) / group;
    out.states[at] = std::max(out.states[at], static_cast<std::uint8_t>(one.state));
    const double value = all.value_of(size_index, one, m);
    double& worst = out.values[at];
    if (std::isnan(worst) || (least_is_worst ? value < worst : value > worst)) worst = value;
  });
  return out;
}

}  // namespace heddle::linktest
