// SPDX-License-Identifier: BSD-3-Clause
// lane_driver.h - what can be done to a lane by the one thread that holds it, and how it lets go.
//
// Whoever holds executes what others have queued before it lets go, or tells the executor
// (sync/lendable_queue.h; docs/design/lane.md). What has ended is in the thread's
// batch then, to be run without the hold.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/helpers.h"
#include "engine/lane_parking.h"
#include "engine/offload.h"
#include "protocols/delivery.h"
#include "protocols/port.h"
#include "sync/lendable_queue.h"
#include "sync/relaxed.h"

namespace heddle::engine {

using lane_hold = sync::lendable_queue<protocols::command>;

class lane_driver {
 public:
  using delivery_batch = protocols::delivery_batch;
  static constexpr std::size_t queue_capacity = 1024;
  /// Commands one thread executes for others before the executor has to take over.
  static constexpr std::size_t drain_limit = 256;

  /// `lane` is for handlers. Throws error.
  lane_driver(lane_core& lane, const protocols::surroundings& where,
              std::vector<std::unique_ptr<transport::endpoint>> endpoints, const helpers& help);

  // --- any thread ------------------------------------------------------------------------
  [[nodiscard]] const protocols::surroundings& where() const noexcept { return where_; }
  [[nodiscard]] const helpers& help() const noexcept { return help_; }
  [[nodiscard]] lane_hold& hold() noexcept { return hold_; }
  [[nodiscard]] const lane_hold& hold() const noexcept { return hold_; }
  [[nodiscard]] lane_hold::queue& commands() noexcept { return hold_.commands(); }
  [[nodiscard]] offload_model& model() noexcept { return model_; }
  [[nodiscard]] const offload_model& model() const noexcept { return model_; }
  [[nodiscard]] const protocols::port& port() const noexcept { return port_; }
  [[nodiscard]] const lane_parking& parking() const noexcept { return parking_; }
  /// As many operations are in flight, or notifications wait, as may: a hint. What is in flight is
  /// the holder's line, and is looked at only when there were too many a while ago.
  [[nodiscard]] bool out_of_records() const noexcept { return was_full_.get() && is_full(); }
  /// Another thread holds the lane for a moment, and is let run.
  void give_way() const noexcept;

  // --- the holder ------------------------------------------------------------------------
  [[nodiscard]] protocols::port& port() noexcept { return port_; }
  [[nodiscard]] lane_parking& parking() noexcept { return parking_; }
  /// Who executes what is queued: a thread of the program that uses the lane; one that has nothing
  /// to do with it; or the executor that serves it alone, and leaves what lies behind a hole.
  enum class drained_by : std::uint8_t { user, helper, sole_server };
  /// Executes what is queued. False: the thread has executed enough for others, and the executor
  /// has to take over.
  bool drain(delivery_batch& batch, drained_by who = drained_by::user) noexcept;
  /// A poll of the endpoints, which disarms them.
  std::size_t advance(delivery_batch& batch) noexcept {
    parking_.disarm();
    return port_.progress(batch);
  }

  // --- letting go --------------------------------------------------------------------------
  /// In one step, while nobody shares the lane or relies on its descriptors.
  void release(delivery_batch& batch) noexcept {
    if (parking_.state().is_armed() || help_.dedicated() || !hold_.leave()) [[unlikely]]
      release_slowly(batch);
  }
  // Not in mode dedicated. What others have queued meanwhile is executed, and delivered as well.
  /// Where nothing was posted, or what was needs no poll to leave.
  void release_unposted() noexcept {
    if (!hold_.leave_free()) [[unlikely]]
      release_and_deliver();
  }
  void release_posted() noexcept {
    if (parking_.state().is_armed()) [[unlikely]]
      return release_and_deliver();
    release_unposted();
  }
  /// Lets go when nothing is queued, or the executor was told.
  void release_slowly(delivery_batch& batch) noexcept;
  /// Behind an attempt to arm: nothing was posted since, and what is unsent waits for what the
  /// descriptors tell. The lane is lent to `borrower`, if there is one.
  void release_armed(delivery_batch& batch, const void* borrower = nullptr) noexcept {
    if (is_blind() || commands().pending() ||
        !(borrower != nullptr ? hold_.lend(borrower) : hold_.leave()))
      release_slowly(batch);
  }
  /// Lets go with commands left in the queue, which the executor takes.
  void hand_over() noexcept;

 private:
  [[nodiscard]] bool is_full() const noexcept {
    return port_.in_flight_hint() >= where_.config->records || port_.is_crowded();
  }
  void release_and_deliver() noexcept;
  /// Who rests without limit would not see a peer die.
  [[nodiscard]] bool is_blind() const noexcept {
    return parking_.rests_without_limit() && port_.in_flight_hint() != 0;
  }

  // Constant.
  const protocols::surroundings where_;
  const helpers help_;
  sync::relaxed<bool> was_full_;  // after the last drain(); seldom written, and beside constants

  // Any thread.
  lane_hold hold_;
  offload_model model_;

  // Holder only.
  protocols::port port_;
  lane_parking parking_;
};

}  // namespace heddle::engine
