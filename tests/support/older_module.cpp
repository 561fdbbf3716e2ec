// SPDX-License-Identifier: BSD-3-Clause
// older_module.cpp - a module as an older Heddle would have built it: of its description only the
// beginning is the same.
#include <cstdint>

extern "C" [[gnu::visibility("default")]] const std::uint32_t heddle_module_description[4]{0, 16};
