// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/meeting_session.h"

#include "base/error.h"
#include "bootstrap/launcher_protocol.h"

namespace heddle::bootstrap {

gathered meeting_session::exchange(std::span<const std::byte> mine) {
  return in_context("exchange addresses", [&] { return gather(mine); });
}

void meeting_session::barrier() {
  in_context("barrier", [this] { (void)gather({}); });
}

gathered meeting_session::gather(std::span<const std::byte> mine) {
  protocol::check_blob(mine);
  return meet(mine);
}

}  // namespace heddle::bootstrap
