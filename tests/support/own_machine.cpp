// SPDX-License-Identifier: BSD-3-Clause
// own_machine.cpp - gives each test program a Tofu machine of its own, if it is the software one:
// tests that run at the same time would take each other's queues.
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace heddle::test {
namespace {

[[maybe_unused]] const int named = [] {
  const std::string name = "test-" + std::to_string(getpid());
  return setenv("SOFTTOFU_JOB", name.c_str(), 0);
}();

}  // namespace
}  // namespace heddle::test
