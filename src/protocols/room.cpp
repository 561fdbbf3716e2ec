// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/room.h"

#include <utility>

namespace heddle::protocols {

void room::tell_all(delivery_batch& out) {
  for (const completion& c : std::exchange(waiting_, {})) out.add(c, {});
}

}  // namespace heddle::protocols
