// SPDX-License-Identifier: BSD-3-Clause
// idle_tbb.cpp - moves a large message with those workers for which oneTBB has no task left.
//
// An arena of low priority gets only workers that no other arena wants. In it lives one task that
// moves Heddle's lanes a step and enqueues itself again: it ends each time, so that a worker goes
// back to the computation as soon as there are tasks. In mode inline nobody else would move the
// message while the program computes:
//   heddle run -n 2 --env HEDDLE_PROGRESS=inline -- idle_tbb
//   heddle run -n 2 --env HEDDLE_PROGRESS=idle -- idle_tbb
#include <heddle/heddle.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

constexpr std::size_t words = std::size_t{1} << 21;  // 16 MiB: far above what is sent at once
constexpr int blocks = 16;
constexpr int steps = 1 << 20;  // of a task

/// The task that runs when there is none, until all transfers have ended.
class idle_task {
 public:
  idle_task(heddle::world& world, const heddle::counter& ended, std::uint64_t posted)
      : world_(world), ended_(ended), posted_(posted) {
    again();
  }
  idle_task(const idle_task&) = delete;
  idle_task& operator=(const idle_task&) = delete;
  ~idle_task() {
    group_.cancel();
    finish();
  }
  void finish() {
    arena_.execute([this] { group_.wait(); });
  }
  std::size_t looks = 0, events = 0;  // one step after the other; read after finish()

 private:
  void again() {
    arena_.enqueue(group_.defer([this] { step(); }));
  }
  void step() {
    ++looks;
    const std::size_t happened = world_.idle_hook();
    events += happened;
    if (happened == 0) std::this_thread::yield();
    if (ended_.count() < posted_) again();
  }

  heddle::world& world_;
  const heddle::counter& ended_;
  const std::uint64_t posted_;
  oneapi::tbb::task_arena arena_{1, 0, oneapi::tbb::task_arena::priority::low};
  oneapi::tbb::task_group group_;
};

/// One block of an integral: pi in the end.
double compute(int block, int block_steps) {
  const double width = 1.0 / blocks / block_steps;
  double sum = 0;
  for (int i = 0; i < block_steps; ++i) {
    const double x = block * (1.0 / blocks) + (i + 0.5) * width;
    sum += 4.0 / (1.0 + x * x) * width;
  }
  return sum;
}

/// Short tasks for the workers, and a long piece that this thread does itself meanwhile.
double compute_all() {
  std::vector<double> parts(blocks);
  oneapi::tbb::task_group tasks;
  for (int b = 1; b < blocks; ++b)
    tasks.run([&parts, b] { parts[static_cast<std::size_t>(b)] = compute(b, steps); });
  parts[0] = compute(0, 4 * steps * blocks);
  tasks.wait();
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// What is to be found in word `i` of a message from `rank`.
std::uint64_t word_of(int rank, std::size_t i) {
  return static_cast<std::uint64_t>(rank) << 32 | i;
}

int main() try {
  heddle::world world{{.progress = heddle::progress_mode::inline_only}};  // HEDDLE_PROGRESS wins
  heddle::lane lane(world);
  const int to = (world.rank() + 1) % world.size();
  const int from = (world.rank() + world.size() - 1) % world.size();
  std::vector<std::uint64_t> out(words), in(words);
  for (std::size_t i = 0; i < words; ++i) out[i] = word_of(world.rank(), i);
  world.barrier();

  heddle::counter ended;
  std::uint64_t posted = 0;
  for (const auto answer :
       {lane.try_recv(from, heddle::tag{1}, std::as_writable_bytes(std::span(in)), ended),
        lane.try_send(to, 1, std::as_bytes(std::span(out)), ended)}) {
    if (answer == heddle::status::posted) ++posted;
    if (answer != heddle::status::posted && answer != heddle::status::done) return 1;
  }

  idle_task idle(world, ended, posted);
  const double pi = compute_all();
  const bool hidden = ended.count() == posted;

  if (lane.wait(ended, posted) != heddle::status::done) return 1;
  bool fine =
      std::abs(pi - 3.14159265358979) < 1e-9 && ended.first_failure() == heddle::status::done;
  idle.finish();
  for (std::size_t i = 0; i < words; ++i) fine = fine && in[i] == word_of(from, i);
  std::printf(
      "rank %d: %zu MiB from rank %d over %s %s the computing ended; idle workers looked %zu "
      "times and moved %zu things; pi is %.9f\n",
      world.rank(), words * sizeof(std::uint64_t) >> 20, from, world.route(from).c_str(),
      hidden ? "were there before" : "came after", idle.looks, idle.events, pi);
  world.barrier();  // the peer may still read what this rank sends
  return fine ? 0 : 1;
} catch (const heddle::error& reason) {
  std::fprintf(stderr, "idle_tbb: %s\n", reason.what());
  return 1;
}
