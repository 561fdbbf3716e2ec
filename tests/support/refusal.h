// SPDX-License-Identifier: BSD-3-Clause
// refusal.h - what an error says.
#pragma once
#include <heddle/status.h>

#include <string>

namespace heddle::test {

/// The text of the error that `work` throws.
template <class Work>
[[nodiscard]] std::string refusal(Work&& work) {
  try {
    work();
  } catch (const error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace heddle::test
