// registry.h - the backends this build contains, best first.
#pragma once
#include <span>

#include "backends/backend.h"

namespace heddle::backends {

/// All backends, in the order in which a route is looked for.
[[nodiscard]] std::span<const factory> all() noexcept;

}  // namespace heddle::backends
