// shm.h - peers on the same host, through memory both sides map.
#pragma once
#include "backends/backend.h"

namespace heddle::backends {

[[nodiscard]] factory shm_factory() noexcept;

}  // namespace heddle::backends
