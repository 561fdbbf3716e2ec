// SPDX-License-Identifier: BSD-3-Clause
// hanging_job.cpp - a job of two ranks that waits for ever, so that it can be asked for what.
//
// hanging_job HOW: rank 0 says "hangs" and then
//   receive   waits for a message that rank 1 never sends; one that rank 1 has sent waits here
//   send      sends a large message that rank 1 never receives
//   barrier   waits in a collective that rank 1 never calls
//   launcher  waits in world::barrier
//   join      waits for rank 1, which never makes its world
// Rank 1 sleeps, and calls nothing. The program sets HEDDLE_RECORDS and HEDDLE_LINGER_MS.
#include <heddle/heddle.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void say(const char* what) {
  std::puts(what);
  std::fflush(stdout);
}

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

int hang(heddle::world& w, heddle::lane& l, const std::string& how) {
  say("hangs");
  std::array<std::byte, 24> into;
  const std::vector<std::byte> large(3'000'000);
  if (how == "receive") (void)l.recv(1, 77, into);
  if (how == "send") (void)l.send(1, 78, large);
  if (how == "barrier") (void)heddle::barrier(l);
  if (how == "launcher") w.barrier();
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc == 2 ? argv[1] : "";
  const bool first = std::string(std::getenv("HEDDLE_RANK")) == "0";
  if (how == "join" && !first) sleep_for_ever();
  if (how == "join") say("hangs");
  heddle::world world({.settings = {{"HEDDLE_RECORDS", "64"}, {"HEDDLE_LINGER_MS", "500"}}});
  heddle::lane lane(world, {.exclusive = how == "send"});
  const std::array<std::byte, 100> unwanted{};
  if (world.rank() == 1 && lane.send(0, 5, unwanted) != heddle::status::done) return 1;
  world.barrier();
  if (world.rank() == 1) sleep_for_ever();
  return hang(world, lane, how);
}
