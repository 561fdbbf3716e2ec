/* SPDX-License-Identifier: BSD-3-Clause */
/* aborting.c - a job in C that rank 1 ends for all, while the others wait for it. */
#include <heddle/c.h>

int main(void) {
  heddle_world* world = heddle_world_open(NULL);
  if (world == NULL) return 1;
  if (heddle_world_rank(world) == 1) heddle_world_abort(world, 42, "no input");
  return heddle_world_barrier(world) == 0 ? 2 : 3;
}
