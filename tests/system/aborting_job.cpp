// SPDX-License-Identifier: BSD-3-Clause
// aborting_job.cpp - a job that one rank ends for all while the others wait for it.
//
// aborting_job RANK STATUS [fork]: with `fork` a child of that rank aborts, and the rank ends in
// order if that was the child's affair only.
#include <heddle/heddle.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  heddle::world world;
  const int status = std::atoi(argv[2]);
  if (world.rank() == std::atoi(argv[1])) {
    std::printf("last words");  // no line's end: they are still in this process's buffer
    if (argc == 3) world.abort(status, "no input");
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) world.abort(status);
    int how = 0;
    waitpid(child, &how, 0);
    if (!WIFEXITED(how) || WEXITSTATUS(how) != status) return 3;
  }
  world.barrier();
  return 0;
}
