// SPDX-License-Identifier: BSD-3-Clause
// ways.h - by which launcher's means this process joins its job, read from its environment.
#pragma once
#include <cstdint>

namespace heddle::bootstrap {

inline constexpr const char* boot_variable = "HEDDLE_BOOT";

enum class way : std::uint8_t {
  alone,          ///< nobody launched it as a rank: a world of one
  run,            ///< `heddle run`: HEDDLE_BOOT_FD
  meeting_point,  ///< no launcher, ranks find each other: HEDDLE_RENDEZVOUS
  pmix,           ///< PMIx: Open MPI's mpirun, srun --mpi=pmix
  pmi1,           ///< PMI-1's wire: Hydra, MPICH's mpiexec, srun --mpi=pmi2
};

/// What join() will do: the first of the above, from `run` on, whose variable is set; HEDDLE_BOOT
/// names another one. A job of PMIx or PMI-1 that is known to have one rank is none: what is
/// started in an interactive step of a batch system is nobody's rank. Throws error: it looks like
/// one of several ranks (OMPI_COMM_WORLD_SIZE, PMI_SIZE or SLURM_STEP_NUM_TASKS above 1), and there
/// is no way to join them: never N silent worlds of one.
[[nodiscard]] way way_to_join();

}  // namespace heddle::bootstrap
