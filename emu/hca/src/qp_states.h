// SPDX-License-Identifier: BSD-3-Clause
// qp_states.h - which changes of a queue pair's state there are, and what each of them needs.
#pragma once
#include <infiniband/verbs.h>

namespace hca {

/// 0, or EINVAL: there is no such change, an attribute it needs is missing, or one is given that
/// this change does not take. `mask` as given to ibv_modify_qp.
[[nodiscard]] int check_change(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to,
                               int mask) noexcept;

}  // namespace hca
