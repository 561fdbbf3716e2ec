// SPDX-License-Identifier: BSD-3-Clause
// observed_job.cpp - a job of two ranks or more that does some of everything, so that there is
// something to see. Each rank works with the next one.
//
//   work   messages, calls, puts, gets and atomics, with sleeps in between
//   lose   the same, and then rank 1 dies while the others wait for it
#include <heddle/heddle.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int rounds = 20;
constexpr std::size_t large = 300'000;

void nothing(void*, heddle::lane&, const heddle::call_message&) noexcept {}

void work(heddle::world& w, heddle::lane& l) {
  const heddle::rank after = (w.rank() + 1) % w.size();
  const heddle::rank before = (w.rank() + w.size() - 1) % w.size();
  const auto array = w.symmetric<std::uint64_t>(4);
  std::vector<std::byte> out(large), in(large);
  for (int i = 0; i < rounds; ++i) {
    heddle::flag came, left;
    (void)l.try_recv(before, 1, in, came);
    const heddle::status s =
        l.try_send(after, 1, std::span(out).first(i % 2 == 0 ? 8 : large), left);
    (void)l.wait(came);
    if (s == heddle::status::posted) (void)l.wait(left);
    (void)l.call(after, 1, {}, std::span(out).first(16));
    (void)l.put(std::uint64_t{1}, array.at(after, 0));
    std::uint64_t old = 0;
    (void)l.get(old, array.at(after, 0));
    (void)l.fetch_add(array.at(after, 1), 1, old);
  }
  // Long enough for the others to fall asleep in the barrier.
  if (w.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  (void)heddle::barrier(l);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc == 2 ? argv[1] : "work";
  heddle::world world;
  heddle::lane lane(world);
  world.set_handler(1, nothing);
  world.barrier();
  work(world, lane);
  if (how != "lose") return 0;
  if (world.rank() == 1) _exit(0);
  std::array<std::byte, 8> never;
  return lane.recv(1, 2, never).code == heddle::status::peer_lost ? 0 : 1;
}
