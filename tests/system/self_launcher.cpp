// SPDX-License-Identifier: BSD-3-Clause
// self_launcher.cpp - a program that starts itself as a job, like `heddle linktest -n N`.
#include <cstdio>
#include <cstdlib>

#include "bootstrap/bootstrap.h"
#include "run/launcher.h"

int main(int argc, char** argv) {
  using namespace heddle;
  const char* word = argc > 1 ? argv[1] : "nothing";
  if (!tools::inside_job()) return tools::launch_self({.ranks = 3});
  const auto session = bootstrap::join();
  session->barrier();
  std::printf("rank %d of %d heard %s\n", session->info().rank, session->info().size, word);
  return 0;
}
