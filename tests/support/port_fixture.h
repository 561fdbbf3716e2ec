// SPDX-License-Identifier: BSD-3-Clause
// port_fixture.h - for tests: a port over a scripted wire.
#pragma once
#include <memory>
#include <utility>

#include "protocols/port.h"
#include "support/scripted_world.h"

namespace heddle::protocols {

class PortFixture : public test::ScriptedWorld {
 protected:
  /// Made anew, as `wire_`, `config_` and `atomic_route_` say now.
  port& start() {
    port_.reset();
    auto endpoints = make_endpoints();
    port_ = std::make_unique<port>(no_lane(), where(), std::move(endpoints));
    return *port_;
  }

  delivery_batch batch_;
  std::unique_ptr<port> port_;
};

}  // namespace heddle::protocols
