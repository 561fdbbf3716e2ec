// SPDX-License-Identifier: BSD-3-Clause
// judge.h - verdicts from suspects, with their retests or without.
#pragma once
#include <set>
#include <span>
#include <vector>

#include "linktest/diagnose/retests.h"
#include "linktest/diagnose/suspects.h"
#include "linktest/diagnose/verdict.h"

namespace heddle::linktest {

/// What a judgement rests on.
struct case_file {
  std::span<const observation> seen;      ///< that ports and pairs index
  std::span<const observation> all_seen;  ///< that cables index
  const surroundings& where;
  int rails;
  const retests& book;
  const std::set<int>& nodes;  ///< that are suspected, or ends of suspected pairs
};

/// Only what its retests confirm: nodes first; pairs of which a slow node is no end; contention for
/// what is slow only in its step. The strongest first.
[[nodiscard]] std::vector<verdict> judge(const suspects& all, const case_file& facts);

/// What the first measurement alone says.
[[nodiscard]] std::vector<verdict> believe(const suspects& all, std::span<const observation> seen,
                                           const surroundings& where, int rails);

}  // namespace heddle::linktest
