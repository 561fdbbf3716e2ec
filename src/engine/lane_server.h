// SPDX-License-Identifier: BSD-3-Clause
// lane_server.h - what others than the waiting program do for a lane: its executor, idle helpers,
// a thread that has nothing to do.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/lane_driver.h"
#include "engine/lane_lender.h"
#include "sync/parking.h"
#include "sync/release_acquire.h"

namespace heddle::engine {

class lane_server {
 public:
  using readiness = sync::parking<>::readiness;
  explicit lane_server(lane_driver& of) noexcept : driver_(of) {}

  // --- any thread --------------------------------------------------------------------------
  /// A turn of a thread that has nothing to do with the lane, unless somebody holds it: of a
  /// helper, or of the program. Returns how many things happened.
  std::size_t progress() noexcept;
  /// Takes the hold for a question that has to be answered at once and so cannot be queued: in mode
  /// dedicated the executor lets it go for a moment.
  [[nodiscard]] bool enter_with_patience() noexcept;
  /// The same, of a thread that is not the program's.
  [[nodiscard]] bool enter_asking() noexcept;
  /// The holder leaves the lane to the executor, and need not wake it: the descriptors will. False:
  /// it has to be woken.
  [[nodiscard]] bool leave_to_descriptors() noexcept;
  /// Of the executor of mode dedicated: to let go for a moment, if it has the hold.
  void ask() noexcept {
    if (driver_.help().dedicated()) asked_.set();
  }

  // --- the executor's thread ---------------------------------------------------------------
  /// A turn of the executor. `keep`: it has no other lane, and in mode dedicated keeps the hold.
  std::size_t serve(bool keep) noexcept;
  /// The program had polled before the last turn since the look before: it goes on by itself, or is
  /// looked after when a tick has passed.
  [[nodiscard]] bool program_polls() const noexcept { return program_polls_; }
  readiness prepare_sleep(bool keep) noexcept;
  /// Lets go what serve() holds, because the executor ends.
  void dismiss() noexcept;
  /// Looks for dead peers. False: could not, the lane is busy.
  bool maintain(std::uint64_t now_ns) noexcept;

 private:
  bool watch(bool wanted) noexcept;
  [[nodiscard]] bool enter() noexcept;
  const void* borrower() noexcept;
  std::size_t take_turn(protocols::delivery_batch& batch) noexcept;
  std::size_t take_queued(protocols::delivery_batch& batch) noexcept;
  bool rest_served(protocols::delivery_batch& batch, bool watched, bool keep) noexcept;
  std::size_t let_others_in(protocols::delivery_batch& batch, bool asked) noexcept;

  lane_driver& driver_;
  sync::release_acquire_flag asked_;  // a thread of the program wants the hold that serve() keeps
  sync::listening<> listening_;
  // The executor's thread only.
  bool serving_ = false;  // serve() has kept the hold
  bool program_polls_ = false;
  unsigned turns_ = 0;
  lane_lender lender_;
};

}  // namespace heddle::engine
