// SPDX-License-Identifier: BSD-3-Clause
// retests.h - what was measured again to make sure, compared with what is usual when alone.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "linktest/diagnose/additive_model.h"

namespace heddle::linktest {

/// Measures each pair again, in any order, and answers in the order of the probes: seconds per
/// message, NaN where it could not be measured.
using prober = std::function<std::vector<float>(std::span<const probe>)>;

/// Of some retests: how many there were, how many of them slow, and their lower median.
struct retest_summary {
  std::size_t count = 0, slow = 0;
  double factor = 1;     ///< times as long as usual
  bool is_slow = false;  ///< by more than noise explains, three in four of them
};

/// The retests of a diagnosis and their reference: the same class of pairs, alone, among nodes that
/// nobody suspects.
class retests {
 public:
  /// All outlive it.
  retests(const surroundings& where, const additive_model& fit, const prober& again);

  /// Has each measured once more. What failed is left out.
  void measure(std::span<const probe> wanted);
  /// Retests between nodes outside of `suspected` become the reference.
  void set_suspected(std::set<int> suspected) { suspected_ = std::move(suspected); }

  using question = std::function<bool(const probe&)>;
  /// Of the retests alone (`together` false) or with all pairs of their step, those that `which`
  /// says yes to.
  [[nodiscard]] retest_summary summarize(bool together, const question& which) const;
  [[nodiscard]] std::size_t count() const noexcept { return done_.size(); }
  /// How many there are per class among unsuspected nodes.
  [[nodiscard]] std::size_t references(std::uint8_t kind) const;
  [[nodiscard]] std::uint8_t kind_of(const probe& p) const {
    return where_.kind_of ? where_.kind_of(p.from, p.to) : std::uint8_t{0};
  }

 private:
  struct result {
    probe what;
    float log_seconds;
    std::uint8_t kind;
  };
  struct reference {
    double usual = 0, sigma = 0;  ///< logs
  };
  [[nodiscard]] reference alone_usual(std::uint8_t kind) const;
  [[nodiscard]] bool between_unsuspected(const probe& p) const {
    return !suspected_.contains(p.from) && !suspected_.contains(p.to);
  }

  const surroundings& where_;
  const additive_model& fit_;
  const prober& again_;
  std::vector<result> done_;
  std::set<int> suspected_;
};

}  // namespace heddle::linktest
