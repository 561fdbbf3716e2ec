// SPDX-License-Identifier: BSD-3-Clause
// verdict.h - judges the facts of a job by what its plan promised.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/board.h"
#include "fuzz/model.h"
#include "fuzz/plan.h"

namespace heddle::fuzz {

/// `kind` is the promise that was broken: minimising keeps to it.
struct finding {
  std::string
      kind;  ///< order, bytes, ending, twice, mistake, lost, word, call, set-up, crash, silence
  std::string text;
};

/// A rank's prospect as it turned out: one that starves is as good as dead once it could not go on,
/// lost a peer, or was lost by one. While the job runs, it may become worse.
[[nodiscard]] prospect outlook_of(const plan& p, const board& facts, int rank);

/// For a job whose ranks have all ended. Everything is looked at.
[[nodiscard]] std::vector<finding> judge(const plan& p, const board& facts);

/// While the job runs: whether the group's senders are through, and all that must arrive was
/// received. A message from or to a rank that may be lost need not, and stands in for no other one.
[[nodiscard]] bool nothing_is_left(const plan& p, const board& facts, const group& g);

}  // namespace heddle::fuzz
