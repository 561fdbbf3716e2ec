// SPDX-License-Identifier: BSD-3-Clause
// main.cpp - a project that knows Heddle only as installed.
#include <heddle/heddle.h>
#include <heddle/info.h>

#include <cstdio>

#if HEDDLE_VERSION < HEDDLE_VERSION_NUMBER(0, 1, 0) || \
    HEDDLE_VERSION >= HEDDLE_VERSION_NUMBER(1000, 0, 0)
#error "HEDDLE_VERSION is no version"
#endif

int main() {
  if (heddle::version() != HEDDLE_VERSION_STRING) return 2;  // built and run with one installation
  heddle::world world;
  std::printf("rank %d of %d\n", world.rank(), world.size());
  return world.size() == 1 ? 0 : 1;
}
