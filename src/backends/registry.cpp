// registry.cpp - the one list of backends.
#include "backends/registry.h"

#include <array>

#include "backends/shm/shm.h"
#include "backends/tcp/tcp.h"

namespace heddle::backends {

std::span<const factory> all() noexcept {
  static const std::array known{shm_factory(), tcp::tcp_factory()};
  return known;
}

}  // namespace heddle::backends
