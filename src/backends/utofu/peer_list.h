// SPDX-License-Identifier: BSD-3-Clause
// peer_list.h - peers for whom something is to be done.
#pragma once
#include "base/todo_list.h"

namespace heddle::transport::utofu {

struct peer_state;
using peer_link = todo_link<peer_state>;
template <peer_link peer_state::*Link>
using peer_list = todo_list<peer_state, Link>;

}  // namespace heddle::transport::utofu
