// SPDX-License-Identifier: BSD-3-Clause
// lane_fixture.h - for tests: the parts of a lane over a scripted wire, rank 0 of two, with an
// executor that only counts what it is told.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/lane_driver.h"
#include "support/scripted_world.h"

namespace heddle::engine {

struct counting_alarm final : alarm {
  int soon = 0, wakes = 0;
  bool knows = false, listens = false;  ///< the lane, to its descriptors
  std::function<void()> on_listening;   ///< it is woken by that at once
  void look_soon() noexcept override { ++soon; }
  void wake() noexcept override { ++wakes; }
  bool watch(std::span<const std::unique_ptr<transport::endpoint>>, bool wanted) noexcept override {
    listens = knows && wanted;
    if (listens && on_listening) std::exchange(on_listening, nullptr)();
    return knows;
  }
  [[nodiscard]] std::uint64_t rings() const noexcept override { return 0; }
};

struct counting_keeper final : keeper {
  int turns = 0, moves = 0;
  void keep_off(int) noexcept override { ++moves; }
  [[nodiscard]] bool keeps_to_another(int) const noexcept override { return false; }
  void serve_inline() noexcept override { ++turns; }
  [[nodiscard]] bool is_shared_inline() const noexcept override { return false; }
};

using test::ending;

class LaneFixture : public test::ScriptedWorld {
 public:
  LaneFixture() = default;
  LaneFixture(const LaneFixture&) = delete;
  LaneFixture& operator=(const LaneFixture&) = delete;

 protected:
  /// What a test has left in this thread's batch would end in the next one's.
  ~LaneFixture() override { mine_.run(); }
  /// Made anew, in this mode.
  lane_driver& start(progress_mode mode = progress_mode::adaptive, int ranks_per_core = 1) {
    driver_.reset();
    auto endpoints = make_endpoints();
    driver_ = std::make_unique<lane_driver>(no_lane(), where(), std::move(endpoints),
                                            helpers{.alarm = alarm_,
                                                    .keeper = keeper_,
                                                    .mode = mode,
                                                    .spin_ns = 0,
                                                    .ranks_per_core = ranks_per_core});
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

  /// A message is accepted that the wire does not take.
  void leave_without_room() {
    wire_.room = 0;
    ASSERT_TRUE(driver_->hold().enter());
    driver_->port().dispatch().execute_accepted(protocols::send_command({1}, tag{1}, into_, ended_),
                                                mine_);
    ASSERT_TRUE(driver_->port().unsent());
    driver_->release(mine_);
  }

  /// Something that is nothing to the port.
  void bring_news() {
    wire_.events.push_back(
        {transport::event::kind_t::arrived, status::done, wire_.reach(any_source), nullptr, {}});
  }

  counting_alarm alarm_;
  counting_keeper keeper_;
  ending ended_;
  std::vector<std::byte> into_ = std::vector<std::byte>(8);
  protocols::delivery_batch other_;  // of a thread that is not this one
  protocols::delivery_batch& mine_ = protocols::delivery_batch::mine();
  std::unique_ptr<lane_driver> driver_;
};

}  // namespace heddle::engine
