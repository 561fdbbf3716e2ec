// SPDX-License-Identifier: BSD-3-Clause
// module.cpp - what the registry finds when it loads this backend.
#include "transport/module.h"

#include <infiniband/verbs.h>

#include "backends/verbs/device.h"
#include "backends/verbs/settings.h"

namespace heddle::transport::verbs {
namespace {

/// One device for each port. The first is known to peers by the backend's name, so that ranks with
/// different numbers of ports reach each other.
std::vector<named_device> open_ports(const factory& self, const context& where) {
  (void)ibv_fork_init();  // a child of the program must not take pages that a card writes to
  const card_list cards;
  std::vector<named_device> made;
  for (const port_choice& port : cards.ports(options(*where.config).devices)) {
    std::string name = self.name;
    if (!made.empty()) name += "." + std::to_string(made.size() + 1);
    made.push_back({std::move(name), std::make_unique<verbs_device>(where, port)});
  }
  return made;
}

const factory& verbs_factory() {
  static const factory made{"verbs", own_settings, &open_ports};
  return made;
}

}  // namespace
}  // namespace heddle::transport::verbs

HEDDLE_BACKEND_MODULE(heddle::transport::verbs::verbs_factory)
