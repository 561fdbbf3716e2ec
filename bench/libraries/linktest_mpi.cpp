// SPDX-License-Identifier: BSD-3-Clause
// linktest_mpi.cpp - a link test as LinkTest defines it, by MPI's calls and nothing else: the
// schedule of `heddle linktest`, its kernel semi, and the time until rank 0 has the whole matrix.
//
//   mpirun -n N heddle_peer_linktest_openmpi BYTES MESSAGES WARMUP REPETITIONS
//
// Prints the seconds from the first measurement to the last row, and the median time per message.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "linktest/plan/schedule.h"

namespace {

using heddle::linktest::schedule;
using heddle::linktest::starts_first;

struct effort {
  int bytes, messages, warmup, repetitions;
};

/// This rank's side of so many messages there and back.
void bounce(int peer, bool first, int count, std::vector<char>& data) {
  const int bytes = static_cast<int>(data.size());
  for (int i = 0; i < count; ++i) {
    if (first) MPI_Send(data.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(data.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!first) MPI_Send(data.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
  }
}

/// Seconds per message, for who has the clock.
double visit(int peer, bool first, const effort& how, std::vector<char>& data) {
  bounce(peer, first, how.warmup, data);
  const double begin = MPI_Wtime();
  bounce(peer, first, how.messages, data);
  return (MPI_Wtime() - begin) / (2.0 * how.messages);
}

/// The smallest of all repetitions, by peer.
std::vector<double> measure(int rank, int ranks, const effort& how) {
  const schedule steps(ranks);
  std::vector<char> data(static_cast<std::size_t>(how.bytes));
  std::vector<double> row(static_cast<std::size_t>(ranks), 0);
  for (int repetition = 0; repetition < how.repetitions; ++repetition) {
    for (std::int64_t step = 0; step < steps.steps(); ++step) {
      MPI_Barrier(MPI_COMM_WORLD);
      const std::int64_t met = steps.partner(rank, step);
      if (met == schedule::idle) continue;
      const int peer = static_cast<int>(met);
      for (const bool low_first : {true, false}) {
        const bool first = starts_first(rank, peer) == low_first;
        const double took = visit(peer, first, how, data);
        double& entry = row[static_cast<std::size_t>(peer)];
        if (first) entry = repetition == 0 ? took : std::min(entry, took);
      }
    }
  }
  return row;
}

double median_of(std::vector<double> times) {
  std::erase(times, 0.0);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto number = [&](int i) { return i < argc ? std::atoi(argv[i]) : 0; };
  const effort how{number(1), number(2), number(3), number(4)};
  if (how.bytes < 1 || how.messages < 1 || how.repetitions < 1 || ranks < 2) {
    if (rank == 0)
      fmt::print(stderr,
                 "start at least two: mpirun -n N heddle_peer_linktest_openmpi BYTES MESSAGES "
                 "WARMUP REPETITIONS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const double begin = MPI_Wtime();
  const std::vector<double> row = measure(rank, ranks, how);
  std::vector<double> all(rank == 0 ? row.size() * row.size() : 0);
  MPI_Gather(row.data(), ranks, MPI_DOUBLE, all.data(), ranks, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) fmt::print("{:.6f} {:.9f}\n", MPI_Wtime() - begin, median_of(all));
  MPI_Finalize();
}
