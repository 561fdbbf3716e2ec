// SPDX-License-Identifier: BSD-3-Clause
// module.cpp - what the registry finds when it loads this backend.
#include "transport/module.h"

#include "backends/utofu/device.h"
#include "backends/utofu/settings.h"

namespace heddle::transport::utofu {
namespace {

const factory& utofu_factory() {
  static const factory made{"utofu", own_settings, &open_one<utofu_device>};
  return made;
}

}  // namespace
}  // namespace heddle::transport::utofu

HEDDLE_BACKEND_MODULE(heddle::transport::utofu::utofu_factory)
