// port_fixture.h - for tests: a port over a scripted wire, rank 0 of two, on whose lane nobody else
// is.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/faults/scripted_endpoint.h"
#include "protocols/lost_peers.h"
#include "protocols/port.h"

namespace heddle::protocols {

class PortFixture : public testing::Test {
 protected:
  /// Made anew, as `wire_`, `config_` and `atomic_route_` say now.
  port& start() {
    port_.reset();
    device_ = std::make_unique<transport::scripted_device>(wire_);
    devices_[0] = device_.get();
    std::vector<std::unique_ptr<transport::endpoint>> endpoints;
    endpoints.push_back(device_->make_endpoint(0));
    port_ = std::make_unique<port>(*reinterpret_cast<engine::lane_core*>(&no_lane_),
                                   surroundings{.lane = 0,
                                                .self = 0,
                                                .size = 2,
                                                .config = &config_,
                                                .regions = &regions_,
                                                .losses = &losses_,
                                                .devices = devices_,
                                                .route = route_,
                                                .atomic_route = atomic_route_,
                                                .handlers = handlers_},
                                   std::move(endpoints));
    return *port_;
  }

  transport::script wire_;
  std::unique_ptr<transport::scripted_device> device_;
  std::array<transport::device*, 1> devices_{};
  const std::array<std::uint8_t, 2> route_{};
  std::array<std::uint8_t, 2> atomic_route_{};
  settings config_;
  memory::region_table regions_;
  lost_peers losses_;
  std::array<sync::published<const handler_entry*>, max_handlers> handlers_;
  std::array<std::byte, 64> no_lane_{};  // only what calls are told; there are none
  delivery_batch batch_;
  std::unique_ptr<port> port_;
};

}  // namespace heddle::protocols
