// SPDX-License-Identifier: BSD-3-Clause
// pmix.h - membership in a job of a launcher that offers PMIx: Open MPI's mpirun, srun --mpi=pmix.
#pragma once
#include <cstdint>
#include <memory>

#include "bootstrap/bootstrap.h"

namespace heddle::bootstrap {

/// Joins the job of PMIX_NAMESPACE. `limit_ms` is join()'s. Throws error: no libpmix.so.2 here, no
/// server of the launcher, or ranks do not come.
[[nodiscard]] std::unique_ptr<session> join_pmix(std::uint64_t limit_ms);

}  // namespace heddle::bootstrap
