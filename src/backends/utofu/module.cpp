// module.cpp - what the registry finds when it loads this backend.
#include "transport/module.h"

#include "backends/utofu/device.h"

namespace heddle::transport {
namespace {

std::unique_ptr<device> open_utofu(const context& where) {
  return std::make_unique<utofu::utofu_device>(where);
}

}  // namespace
}  // namespace heddle::transport

extern "C" const heddle::transport::factory* heddle_backend_module() {
  static const heddle::transport::factory made{"utofu", &heddle::transport::open_utofu};
  return &made;
}
