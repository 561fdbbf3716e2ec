// SPDX-License-Identifier: BSD-3-Clause
// layers.h - the layers of a run beside each other: their figures, and what is slow over some rails
// of a wire only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linktest/diagnose/rails.h"
#include "linktest/results/pair_class.h"
#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// What was found over one layer.
struct layer_findings {
  std::string layer;
  std::vector<std::vector<class_figures>> figures;  ///< by size
  std::optional<diagnosis> slow;                    ///< none: it was not looked for
  bool all_judged = true;                           ///< false: some ranks were left out
};
[[nodiscard]] layer_findings findings_over(const run_facts& facts, const results& all);

/// A rail over which even the fastest pair of a class takes longer than is usual over another one.
/// No verdict: rails may be made to differ.
struct slower_rail {
  int rail, than;
  std::uint64_t bytes;  ///< the size at which it is slowest
  pair_class between;
  double times;  ///< as long, of the medians; at least as --slow says
};

/// A wire of which several rails were measured, each alone, and one at least was judged.
struct wire_findings {
  std::string backend;
  std::vector<int> rails, not_judged;  ///< the second: of these, where nobody or not all was judged
  std::vector<verdict> verdicts;       ///< verdicts_on_rails()
  std::vector<slower_rail> slower;     ///< compared with its fastest rail, each once for a class
};

struct layer_comparison {
  std::vector<layer_findings> layers;
  std::vector<wire_findings> wires;
};
/// All of the layers with the same ranks, sizes, kernel, op and mode: those of `facts`.
[[nodiscard]] layer_comparison compare(std::vector<layer_findings> layers, const run_facts& facts);

/// Medians of the smallest messages' times and of the largest ones' bandwidths by class of pair, a
/// column for each layer; the verdicts; and rails that are slower for all hosts.
[[nodiscard]] std::string in_words(const layer_comparison& of, const run_facts& facts);

}  // namespace heddle::linktest
