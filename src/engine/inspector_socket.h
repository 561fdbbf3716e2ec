// SPDX-License-Identifier: BSD-3-Clause
// inspector_socket.h - the name under which a world can be asked, for both sides of the socket.
#pragma once
#include <fmt/format.h>

#include "base/abstract_address.h"

namespace heddle::engine {

/// `number` tells the worlds of a rank apart that one process has beside each other, from 0.
inline abstract_address inspector_address(int pid, int rank, int size, int number) {
  return abstract_address(fmt::format("heddle-{}-{}-{}-{}", pid, rank, size, number));
}

}  // namespace heddle::engine
