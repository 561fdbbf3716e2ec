// SPDX-License-Identifier: BSD-3-Clause
// lane_core.h - a lane: whoever comes first drives it, others leave their commands in its queue.
//
// One thread at a time holds the lane and may use its port. What belongs to holding is lane_driver;
// the other parts are the reasons for which a thread wants to hold, and share that one:
//
//   lane_submitter  takes operations on         lane_waiter     waits, driving or asleep
//   lane_questions  polls, probes, reports      lane_server     lends a hand: executor, helpers
//   lane_end        ends what is left           lane_user       knows who may use it
#pragma once
#include <heddle/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/lane_driver.h"
#include "engine/lane_end.h"
#include "engine/lane_questions.h"
#include "engine/lane_server.h"
#include "engine/lane_submitter.h"
#include "engine/lane_user.h"
#include "engine/lane_waiter.h"
#include "protocols/lost_peers.h"
#include "sync/cache_line.h"
#include "sync/counters.h"

namespace heddle::engine {

class lane_core {
 public:
  lane_core(int number, const protocols::surroundings& where,
            std::vector<std::unique_ptr<transport::endpoint>> endpoints, const helpers& help);

  [[nodiscard]] int number() const noexcept { return user_.place().lane; }
  [[nodiscard]] rank self() const noexcept { return driver_.where().self; }
  [[nodiscard]] int ranks() const noexcept { return driver_.where().size; }
  [[nodiscard]] bool has_ended() const noexcept { return end_.has_come(); }
  /// Why a peer was lost; empty: it was not.
  [[nodiscard]] std::string why(rank peer) const {
    return driver_.where().losses->why(number(), peer);
  }
  [[nodiscard]] std::uint64_t next_collective() noexcept { return collectives_.next(); }
  [[nodiscard]] std::uint64_t next_group() noexcept { return groups_.next(); }

  // --- its parts: any thread, as each of them says ------------------------------------------
  [[nodiscard]] lane_submitter& submitter() noexcept { return submitter_; }
  [[nodiscard]] lane_waiter& waiter() noexcept { return waiter_; }
  [[nodiscard]] const lane_waiter& waiter() const noexcept { return waiter_; }
  [[nodiscard]] lane_questions& questions() noexcept { return questions_; }
  [[nodiscard]] lane_server& server() noexcept { return server_; }
  [[nodiscard]] const lane_user& user() const noexcept { return user_; }
  [[nodiscard]] const lane_driver& driver() const noexcept { return driver_; }
  [[nodiscard]] const protocols::port& port() const noexcept { return driver_.port(); }
  /// No thread waits here, and none has it to itself: in mode inline others of this rank move it,
  /// or what a peer waits for would rest as long as they wait for that peer.
  [[nodiscard]] bool left_alone() const noexcept {
    return waiter_.threads() == 0 && !user_.exclusive();
  }

  /// What it counts. Any thread: some loads.
  void count(lane_counters& into) const noexcept;
  /// For who was answered busy: polls; when that brings nothing, sleeps a moment for others to make
  /// room. Any thread that may wait.
  void make_room() noexcept;

  // --- whoever opens it, one at a time -------------------------------------------------------
  void open(bool exclusive) noexcept;
  void close() noexcept { user_.close(); }

  // --- the end of the world: its thread, after the executors' ---------------------------------
  /// Nothing is under way or queued. False also while another thread holds the lane.
  [[nodiscard]] bool quiet() noexcept;
  /// From now on everything is answered `closed`; what is under way has ended so on return.
  void end() noexcept;
  /// After the end of all lanes: nobody waits on this one any more. False: somebody still does, for
  /// a moment, and the endpoints stay.
  bool part() noexcept;

 private:
  lane_driver driver_;
  // What who posts reads lies apart from what the holder writes, and what the executor does.
  alignas(sync::cache_line) lane_end end_;
  alignas(sync::cache_line) lane_server server_;
  alignas(sync::cache_line) lane_waiter waiter_;
  lane_submitter submitter_;
  lane_questions questions_;
  lane_user user_;
  sync::shared_counter collectives_, groups_;
};

}  // namespace heddle::engine
