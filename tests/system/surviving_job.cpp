// SPDX-License-Identifier: BSD-3-Clause
// surviving_job.cpp - a job that goes on when rank 1 is killed in the middle of its collectives.
//
// surviving_job: sums in steps; after each step those who are alive agree on who they are, and do
// it again among themselves when they are fewer. Exits with 0 when the sum was that of the living.
#include <heddle/heddle.h>
#include <signal.h>

#include <cstdio>
#include <span>
#include <string>
#include <utility>

namespace {

using heddle::status;

constexpr int steps = 20, rounds = 10;
constexpr heddle::rank doomed = 1;

/// Whether all went as it should, on this rank.
bool work(heddle::world& world, heddle::lane& lane) {
  heddle::group alive(lane);
  for (int step = 0; step < steps; ++step) {
    long sum = 0;
    status worst = status::done;
    for (int round = 0; round < rounds; ++round) {
      if (world.rank() == doomed && step == 7 && round == 4) raise(SIGKILL);
      const long one = 1;
      long all = 0;
      const status ended =
          heddle::allreduce(alive, std::span(&one, 1), std::span(&all, 1), heddle::reduce_op::sum);
      if (ended != status::done) worst = ended;
      sum += all;
    }
    heddle::group next;
    if (heddle::survivors(alive, next) != status::done) return false;
    const bool fewer = next.ranks() != alive.ranks();
    if (worst != status::done && !fewer) return false;
    alive = std::move(next);
    if (fewer) {
      --step;  // again
    } else if (sum != rounds * static_cast<long>(alive.ranks())) {
      return false;
    }
  }
  return alive.ranks() == world.size() - 1 && alive.member(doomed) == -1;
}

}  // namespace

int main() {
  heddle::world world;
  heddle::lane lane(world);
  if (work(world, lane)) return 0;
  std::fprintf(stderr, "rank %d: something is wrong\n", world.rank());
  return 1;
}
