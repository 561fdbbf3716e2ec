// batch.h - what is posted together: one list of descriptors, all of it taken or none.
#pragma once
#include <array>

#include "backends/utofu/endpoint.h"

namespace heddle::transport::utofu {

struct utofu_endpoint::batch {
  std::array<plan, max_batch> plans;
  std::size_t size = 0;
  std::size_t before = 0;  ///< ops that ended by themselves before the first plan
  std::array<std::byte, max_batch * max_descriptor> descriptors;
};

}  // namespace heddle::transport::utofu
