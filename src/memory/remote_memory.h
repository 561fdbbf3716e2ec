// remote_memory.h - what the engine keeps of an imported region beside what the fast path needs.
#pragma once
#include <heddle/detail/direct.h>

#include <memory>

#include "backends/region_table.h"

namespace heddle::memory {

struct remote_memory : detail::remote_target {
  backends::region_ref ref;
  std::shared_ptr<void> mapping;  ///< keeps `direct` mapped
};

}  // namespace heddle::memory
