// lane_core.h - a lane: whoever comes first drives it, others leave their commands in its queue.
//
// One thread at a time holds the lane and may use its port. submit() executes inline when the lane
// is free, otherwise it leaves the command for the holder, who empties the queue before it lets go
// (sync/combining_queue.h; docs/design/lane.md). What has ended is delivered after the hold is
// released.
#pragma once
#include <heddle/completion.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>

#include "protocols/command.h"
#include "protocols/port.h"
#include "sync/combining_queue.h"
#include "sync/counters.h"
#include "sync/shared_flag.h"

namespace heddle::engine {

class executor;

class lane_core {
 public:
  lane_core(int number, const protocols::surroundings& where,
            std::vector<std::unique_ptr<backends::endpoint>> endpoints, executor& helper);

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] rank self() const noexcept { return where_.self; }
  [[nodiscard]] int ranks() const noexcept { return where_.size; }
  [[nodiscard]] std::uint64_t next_collective() noexcept { return collectives_.next(); }
  [[nodiscard]] const protocols::port& port() const noexcept { return port_; }

  // --- any thread ----------------------------------------------------------------------
  /// done, posted, busy_queue, busy_records, or why not.
  status submit(const protocols::command& c) noexcept;
  /// The program's poll: also tells the executor that this lane is attended to.
  std::size_t poll() noexcept;
  status probe(rank source, const tag_match& match, outcome& found) noexcept;
  status cancel(const completion& which) noexcept;
  /// Polls, then sleeps, until `s` has counted to `target`. False: `deadline_ns` came first
  /// (0: none).
  bool wait(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept;

  // --- the executor's thread -----------------------------------------------------------
  enum class readiness {
    work,      ///< there was something to do: do not sleep
    armed,     ///< its descriptors tell when there is
    covered,   ///< a thread of the program sleeps on its descriptors
    attended,  ///< a thread of the program has polled lately: come back soon
  };
  std::size_t progress() noexcept;
  readiness prepare_sleep() noexcept;
  /// Looks for dead peers. False: could not, the lane is busy.
  bool maintain(std::uint64_t now_ns) noexcept;
  /// Something is in flight that needs maintain().
  [[nodiscard]] bool waiting() const noexcept { return port_.in_flight_hint() != 0; }

  // --- the end: no other thread uses the lane any more ---------------------------------
  [[nodiscard]] bool quiet() const noexcept { return port_.quiet(); }
  void abort() noexcept;

 private:
  std::size_t advance(protocols::delivery_batch& batch) noexcept;
  bool arm() noexcept;
  status enqueue(const protocols::command& c, protocols::delivery_batch& batch) noexcept;
  void release(protocols::delivery_batch& batch) noexcept;
  void release_shared(protocols::delivery_batch& batch) noexcept;
  void call_executor() noexcept;
  void leave_to_executor() noexcept;
  void note_wait() noexcept;
  void hand_over() noexcept;
  bool drain(protocols::delivery_batch& batch) noexcept;
  void program_polls() noexcept;
  bool spin(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept;
  std::size_t drive(const detail::signal& s, std::uint64_t target) noexcept;
  void sleep_until_event(std::uint64_t deadline_ns) noexcept;
  bool prepare_wait() noexcept;

  // Constant.
  const int number_;
  const protocols::surroundings where_;
  executor& helper_;
  const std::uint64_t spin_ns_;

  // Any thread.
  sync::agreed_count sleepers_;  // threads of the program asleep on the endpoints' descriptors
  sync::shared_counter collectives_;
  sync::owned_counter left_at_ns_;     // when the program left a large transfer; 0: it waited since
  sync::owned_counter waits_at_once_;  // how often in a row it waited right after leaving one
  sync::combining_queue<protocols::command> commands_;

  // Holder only.
  protocols::port port_;
  bool telling_ = false;          // the descriptors tell of news: armed, and not polled since
  bool armed_ = false;            // the executor counts on the descriptors, or on a sleeper
  bool left_ = false;             // a large transfer was left to the executor
  std::uint64_t polls_ = 0;       // by the program
  std::uint64_t polls_seen_ = 0;  // of these, at the executor's last look
};

}  // namespace heddle::engine
