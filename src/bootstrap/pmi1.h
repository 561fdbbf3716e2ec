// SPDX-License-Identifier: BSD-3-Clause
// pmi1.h - membership in a job of a launcher that speaks PMI-1's wire: Hydra, MPICH's mpiexec, and
// srun --mpi=pmi2, which speaks both. No library of theirs is used.
#pragma once
#include <cstdint>
#include <memory>

#include "bootstrap/bootstrap.h"

namespace heddle::bootstrap {

/// Joins by PMI_FD, PMI_RANK and PMI_SIZE, once in a process. `limit_ms` is join()'s. Throws error:
/// these are not set as they should be, or the launcher is gone, silent or refuses.
[[nodiscard]] std::unique_ptr<session> join_pmi1(std::uint64_t limit_ms);

}  // namespace heddle::bootstrap
