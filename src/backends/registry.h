// registry.h - the backends this build contains, best first.
#pragma once
#include <span>

#include "transport/device.h"

namespace heddle::transport {

/// All backends, in the order in which a route is looked for. One that is a
/// module is loaded when it is first opened.
[[nodiscard]] std::span<const factory> all();

}  // namespace heddle::transport
