// module.cpp - what the registry finds when it loads this backend.
#include "backends/module.h"

#include "backends/utofu/device.h"

namespace heddle::backends {
namespace {

std::unique_ptr<device> open_utofu(const context& where) {
  return std::make_unique<utofu::utofu_device>(where);
}

}  // namespace
}  // namespace heddle::backends

extern "C" const heddle::backends::factory* heddle_backend_module() {
  static const heddle::backends::factory made{"utofu", &heddle::backends::open_utofu};
  return &made;
}
