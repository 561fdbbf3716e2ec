// SPDX-License-Identifier: BSD-3-Clause
// answers_ask.h - one question to a lane, by each form that its function has.
#pragma once
#include <heddle/heddle.h>

#include <cstddef>
#include <span>

#include "contract/answers.h"

namespace heddle::test {

/// One call of a lane's function, as its row says.
struct question {
  const answer_row& row;
  lane& on;
  remote_address at;                // put to add
  std::span<const std::byte> from;  // longer than any row says, like `into`; both aligned to 8
  std::span<std::byte> into;
  completion which;  // cancel
};

/// The two forms of a function; null: it has no such form.
struct forms {
  status (*post)(const question&, completion);
  status (*wait)(const question&);
};

[[nodiscard]] const forms& forms_of(action asked);
/// False: the interface that is asked has no words for it.
[[nodiscard]] bool can_be_asked(const answer_row& row);

}  // namespace heddle::test
