// SPDX-License-Identifier: BSD-3-Clause
// mode_turns.cpp - a session after the other, each with its setting.
#include "studies/mode_turns.h"

#include <cstdlib>

#include "parts/pinning.h"

namespace heddle::bench {

mode_turns::mode_turns(const options& o) : o_(o), cores_(bare::allowed_cores()) {}

std::unique_ptr<session> mode_turns::join(const std::string& mode) const {
  bare::pin_this_thread(cores_);  // as the session before found it
  setenv("HEDDLE_PROGRESS", mode.c_str(), 1);
  return std::make_unique<session>(o_);
}

}  // namespace heddle::bench
