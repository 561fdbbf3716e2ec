// SPDX-License-Identifier: BSD-3-Clause
// world_session.h - joining over a world that the ranks have already: how one world is made beside
// another.
#pragma once
#include <memory>

#include "bootstrap/bootstrap.h"

namespace heddle::engine {

class world_core;

/// The membership of a world beside `first`: the same ranks, and a secret of its own. Collective
/// over `first`, as is every exchange until session::joined(); all ranks join over it in the same
/// order. Throws error: a rank is gone, or is at another call that waits for all ranks. While it
/// lives this process stays in the job, also behind the end of `first`.
[[nodiscard]] std::unique_ptr<bootstrap::session> session_over(std::shared_ptr<world_core> first);

}  // namespace heddle::engine
