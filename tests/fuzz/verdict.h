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

/// For a job whose ranks have all ended. Everything is looked at.
[[nodiscard]] std::vector<finding> judge(const plan& p, const board& facts);

/// While the job runs: whether the group's senders are through, and all that must arrive was
/// received. A message of a rank that may be lost need not, and stands in for no other one.
[[nodiscard]] bool nothing_is_left(const plan& p, const board& facts, const group& g);

}  // namespace heddle::fuzz
