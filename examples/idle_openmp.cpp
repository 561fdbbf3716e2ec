// SPDX-License-Identifier: BSD-3-Clause
// idle_openmp.cpp - moves a large message with those cores for which OpenMP has no work left.
//
// OpenMP tells nobody when a thread finds nothing to do, so the loop over the work ends with
// `nowait`: a thread that gets no further block goes on behind it, and lends itself to Heddle while
// the others still compute. In mode inline nobody else would move the message:
//   heddle run -n 2 --env HEDDLE_PROGRESS=inline -- idle_openmp
//   heddle run -n 2 --env HEDDLE_PROGRESS=idle -- idle_openmp
#include <heddle/heddle.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

constexpr std::size_t words = std::size_t{1} << 21;  // 16 MiB: far above what is sent at once
constexpr int blocks = 16;
constexpr int steps = 1 << 18;  // of a short block; the last one is as long as many of them

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

/// What is to be found in word `i` of a message from `rank`.
std::uint64_t word_of(int rank, std::size_t i) {
  return static_cast<std::uint64_t>(rank) << 32 | i;
}

/// A message to the next rank and one from the rank before.
struct exchange {
  explicit exchange(heddle::world& job)
      : lane(job), from((job.rank() + job.size() - 1) % job.size()), out(words), in(words) {
    for (std::size_t i = 0; i < words; ++i) out[i] = word_of(job.rank(), i);
    job.barrier();
    count(lane.try_recv(from, heddle::tag{1}, std::as_writable_bytes(std::span(in)), ended));
    count(lane.try_send((job.rank() + 1) % job.size(), 1, std::as_bytes(std::span(out)), ended));
  }
  void count(heddle::status answer) {
    if (answer == heddle::status::posted) ++posted;
    if (answer != heddle::status::posted && answer != heddle::status::done) refused = true;
  }
  [[nodiscard]] bool complete() const { return ended.count() == posted; }
  [[nodiscard]] bool verify() {
    if (refused || lane.wait(ended, posted) != heddle::status::done) return false;
    for (std::size_t i = 0; i < words; ++i)
      if (in[i] != word_of(from, i)) return false;
    return ended.first_failure() == heddle::status::done;
  }

  heddle::lane lane;
  const int from;
  std::vector<std::uint64_t> out, in;
  heddle::counter ended;
  std::uint64_t posted = 0;
  bool refused = false;
};

int main() try {
  heddle::world world{{.progress = heddle::progress_mode::inline_only}};  // HEDDLE_PROGRESS wins
  exchange moving(world);

  double pi = 0;
  int computing = blocks;
  std::size_t looks = 0, events = 0;
#pragma omp parallel num_threads(std::max(2, omp_get_max_threads())) reduction(+ : pi, looks, events)
  {
#pragma omp for schedule(dynamic) nowait
    for (int b = 0; b < blocks; ++b) {
      pi += compute(b, b == blocks - 1 ? 4 * steps * blocks : steps);
#pragma omp atomic
      --computing;
    }
    // Nothing left for this thread. As long as others compute it looks after the network.
    for (int others = 1; others > 0 && !moving.complete(); ++looks) {
      if (const std::size_t happened = world.idle_hook(); happened != 0)
        events += happened;
      else
        std::this_thread::yield();
#pragma omp atomic read
      others = computing;
    }
  }
  const bool hidden = moving.complete();

  const bool fine = moving.verify() && std::abs(pi - 3.14159265358979) < 1e-9;
  std::printf(
      "rank %d: %zu MiB from rank %d over %s %s the computing ended; idle threads looked %zu "
      "times and moved %zu things; pi is %.9f\n",
      world.rank(), words * sizeof(std::uint64_t) >> 20, moving.from,
      world.route(moving.from).c_str(), hidden ? "were there before" : "came after", looks, events,
      pi);
  world.barrier();  // the peer may still read what this rank sends
  return fine ? 0 : 1;
} catch (const heddle::error& reason) {
  std::fprintf(stderr, "idle_openmp: %s\n", reason.what());
  return 1;
}
