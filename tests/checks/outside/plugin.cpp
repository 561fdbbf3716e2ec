// SPDX-License-Identifier: BSD-3-Clause
// plugin.cpp - what a program that was not linked to Heddle loads: it brings Heddle with it.
#include <heddle/heddle.h>

/// Joins the job and sends itself a number. How many ranks there are; -1: it did not arrive.
extern "C" int ranks_of_the_job() {
  heddle::world world;
  heddle::lane lane{world};
  auto table = world.symmetric<long>(1);
  long there = 0;
  if (lane.put(42L, table.at(world.rank(), 0)) != heddle::status::done) return -1;
  if (lane.get(there, table.at(world.rank(), 0)) != heddle::status::done) return -1;
  world.barrier();
  return there == 42 ? world.size() : -1;
}
