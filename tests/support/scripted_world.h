// SPDX-License-Identifier: BSD-3-Clause
// scripted_world.h - for tests: what a lane knows of its world, over a scripted wire. Rank 0 of
// two; nobody else is on the lane.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/faults/scripted_endpoint.h"
#include "protocols/lost_peers.h"
#include "protocols/surroundings.h"

namespace heddle::test {

/// What became of an operation.
struct ending {
  int count = 0;
  status code = status::done;
  outcome what;  ///< all of it
  static void note(void* owner, std::uint64_t, const outcome& what) noexcept {
    auto& self = *static_cast<ending*>(owner);
    ++self.count;
    self.code = what.code;
    self.what = what;
  }
  operator completion() noexcept { return {&note, this, 0}; }
};

class ScriptedWorld : public testing::Test {
 protected:
  /// Of devices made anew, as `wire_` says now, and `second_wire_` if there are two rails. What was
  /// made of the last one is gone before.
  std::vector<std::unique_ptr<transport::endpoint>> make_endpoints() {
    std::vector<transport::script*> wires{&wire_};
    if (two_rails_) wires.push_back(&second_wire_);
    made_.clear();
    devices_.clear();
    std::vector<std::unique_ptr<transport::endpoint>> endpoints;
    for (transport::script* each : wires) {
      made_.push_back(std::make_unique<transport::scripted_device>(*each));
      devices_.push_back(made_.back().get());
      endpoints.push_back(made_.back()->make_endpoint(0));
    }
    return endpoints;
  }
  /// As `config_` and `atomic_route_` say now.
  [[nodiscard]] protocols::surroundings where() {
    return {.lane = 0,
            .self = 0,
            .size = 2,
            .config = &config_,
            .regions = &regions_,
            .losses = &losses_,
            .devices = devices_,
            .backends = std::span(backends_).first(devices_.size()),
            .route = route_,
            .atomic_route = atomic_route_,
            .handlers = handlers_,
            .header_handlers = header_handlers_};
  }
  /// Only what calls are told; there are none.
  [[nodiscard]] engine::lane_core& no_lane() noexcept {
    return *reinterpret_cast<engine::lane_core*>(&no_lane_);
  }

  transport::script wire_, second_wire_;
  bool two_rails_ = false;
  std::vector<std::unique_ptr<transport::scripted_device>> made_;
  std::vector<transport::device*> devices_;
  const std::array<std::uint8_t, 2> backends_{};
  const std::array<std::uint8_t, 2> route_{};
  std::array<std::uint8_t, 2> atomic_route_{};
  settings config_;
  memory::region_table regions_;
  protocols::lost_peers losses_;
  std::array<sync::release_acquire<const protocols::handler_entry*>, max_handlers> handlers_;
  std::array<sync::release_acquire<const protocols::handler_entry*>, max_handlers> header_handlers_;

 private:
  std::array<std::byte, 64> no_lane_{};
};

}  // namespace heddle::test
