// lane_fixture.h - for tests: the parts of a lane over a scripted wire, rank 0 of two, with an
// executor that only counts what it is told.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "backends/faults/scripted_endpoint.h"
#include "engine/lane_driver.h"
#include "protocols/lost_peers.h"

namespace heddle::engine {

struct counting_keeper final : keeper {
  int deep_wakes = 0, wakes = 0, turns = 0, moves = 0;
  void wake_deep() noexcept override { ++deep_wakes; }
  void wake() noexcept override { ++wakes; }
  void keep_off(int) noexcept override { ++moves; }
  void serve_inline() noexcept override { ++turns; }
  [[nodiscard]] std::uint64_t rings() const noexcept override { return 0; }
};

/// What became of an operation.
struct ending {
  int count = 0;
  status code = status::done;
  static void note(void* owner, std::uint64_t, const outcome& what) noexcept {
    auto& self = *static_cast<ending*>(owner);
    ++self.count;
    self.code = what.code;
  }
  operator completion() noexcept { return {&note, this, 0}; }
};

class LaneFixture : public testing::Test {
 protected:
  /// Made anew, in this mode.
  lane_driver& start(progress_mode mode = progress_mode::adaptive) {
    driver_.reset();
    std::vector<std::unique_ptr<transport::endpoint>> endpoints;
    endpoints.push_back(device_.make_endpoint(0));
    const protocols::surroundings where{.lane = 0,
                                        .self = 0,
                                        .size = 2,
                                        .config = &config_,
                                        .regions = &regions_,
                                        .losses = &losses_,
                                        .devices = devices_,
                                        .route = route_,
                                        .atomic_route = route_,
                                        .handlers = handlers_};
    driver_ = std::make_unique<lane_driver>(*reinterpret_cast<lane_core*>(&no_lane_), where,
                                            std::move(endpoints),
                                            helpers{.keeper = keeper_, .mode = mode, .spin_ns = 0});
    return *driver_;
  }
  /// Something that is executed as soon as somebody holds the lane, and ends at once.
  protocols::command short_command() {
    protocols::command c;
    c.kind = protocols::command_kind::when_ready;
    c.done = ended_;
    return c;
  }
  /// A receive for which nothing comes.
  protocols::command waiting_command() {
    return protocols::receive_command(1, tag{1}, into_, ended_);
  }

  /// Something that is nothing to the port.
  void bring_news() {
    wire_.events.push_back({transport::event::kind_t::arrived, status::done, any_source, 0, {}});
  }

  transport::script wire_;
  transport::scripted_device device_{wire_};
  std::array<transport::device*, 1> devices_{&device_};
  const std::array<std::uint8_t, 2> route_{};
  settings config_;
  memory::region_table regions_;
  protocols::lost_peers losses_;
  std::array<sync::published<const protocols::handler_entry*>, max_handlers> handlers_;
  std::array<std::byte, 64> no_lane_{};  // only what calls are told; there are none
  counting_keeper keeper_;
  ending ended_;
  std::vector<std::byte> into_ = std::vector<std::byte>(8);
  protocols::delivery_batch other_;  // of a thread that is not this one
  protocols::delivery_batch& mine_ = protocols::delivery_batch::mine();
  std::unique_ptr<lane_driver> driver_;
};

}  // namespace heddle::engine
