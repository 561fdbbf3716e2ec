// SPDX-License-Identifier: BSD-3-Clause
// codes.h - the return codes of uTofu by name.
#pragma once
#include <utofu.h>

#include <string>
#include <vector>

namespace conformance {

struct code {
  const char* name;
  int value;     ///< as the header in use has it
  int expected;  ///< as published
};

/// All return codes.
const std::vector<code>& codes();

/// "BUSY" for -4, "code -77" for one that nobody knows.
std::string name_of(int return_code);

}  // namespace conformance
