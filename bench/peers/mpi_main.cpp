// mpi_main.cpp - heddle_peer_openmpi and heddle_peer_mpich: what Heddle measures, by MPI.
#include <fmt/core.h>

#include <exception>

#include "peers/mpi_party.h"

int main(int argc, char** argv) {
  using namespace heddle::peers;
  const task t = parse(argc, argv);
  return guarded("heddle_peer_mpi", [&] {
    mpi_job job(argc, argv);
    settle_in(t, job.rank());
    try {
      mpi_party self(job, t);
      measure(self, t);
    } catch (const std::exception& why) {
      fmt::print(stderr, "{}\n", why.what());
      MPI_Abort(MPI_COMM_WORLD, 1);  // the other rank would wait for ever
    }
  });
}
