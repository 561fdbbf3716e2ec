// lane_core.h - a lane: whoever comes first drives it, others leave their commands in its queue.
//
// One thread at a time holds the lane and may use its port. submit() executes inline when the lane
// is free, otherwise it leaves the command for the holder, who empties the queue before it lets go
// (lane_hold.h, sync/combining_queue.h; docs/design/lane.md). What has ended is delivered after the
// hold is released. In progress mode dedicated the program only leaves commands, and in idle and
// adaptive it may (offload.h).
//
//   lane_core.cpp     submitting        lane_wait.cpp   waiting, asleep or awake
//   lane_message.cpp  the short way of messages that can go at once
//   lane_serve.cpp    the executor's part, and others' who lend a hand
//   lane_report.cpp   what it waits for, for people
#pragma once
#include <heddle/completion.h>
#include <heddle/status.h>
#include <heddle/types.h>
#include <heddle/world.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/fd.h"
#include "engine/lane_hold.h"
#include "engine/offload.h"
#include "protocols/command.h"
#include "protocols/lost_peers.h"
#include "protocols/port.h"
#include "sync/counters.h"
#include "sync/misuse.h"
#include "sync/parking.h"
#include "sync/published.h"
#include "sync/shared_flag.h"

namespace heddle::engine {

class executor;
class idle_team;

/// Who else moves the lane forward.
struct helpers {
  executor& keeper;           ///< the thread that keeps it going, or serves it alone
  idle_team* team = nullptr;  ///< mode idle
  progress_mode mode = progress_mode::adaptive;
  std::uint64_t spin_ns = 50'000;  ///< awake without an event before a sleep
  int cores = 1;                   ///< this rank's share of the host's
};

/// Counted for people.
struct lane_counters {
  sync::shared_counter left;     ///< commands left for a helper
  sync::owned_counter picked;    ///< of these, what a helper executed
  sync::shared_counter rescues;  ///< found by a sleeper's backstop: a wake was late or lost
};

class lane_core {
 public:
  lane_core(int number, const protocols::surroundings& where,
            std::vector<std::unique_ptr<transport::endpoint>> endpoints, const helpers& help);

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] rank self() const noexcept { return where_.self; }
  [[nodiscard]] int ranks() const noexcept { return where_.size; }
  /// Why a peer was lost; empty: it was not.
  [[nodiscard]] std::string why(rank peer) const { return where_.losses->why(number_, peer); }
  [[nodiscard]] sync::place place() const noexcept { return {where_.self, number_}; }
  [[nodiscard]] std::uint64_t next_collective() noexcept { return collectives_.next(); }
  [[nodiscard]] const protocols::port& port() const noexcept { return port_; }
  [[nodiscard]] const lane_counters& counters() const noexcept { return counters_; }
  [[nodiscard]] const offload_model& model() const noexcept { return model_; }
  /// The core of the thread that opened it last; -1: none has.
  [[nodiscard]] int core() const noexcept { return core_; }

  // --- for people who ask what it waits for: any thread --------------------------------
  [[nodiscard]] bool exclusive() const noexcept { return user_.get() > anybody; }
  /// The thread that opened it last; 0: none has.
  [[nodiscard]] std::uint64_t opener() const noexcept { return opener_.get(); }
  [[nodiscard]] int threads_waiting() const noexcept { return waiting_.get(); }
  [[nodiscard]] bool commands_queued() const noexcept { return hold_.commands().pending(); }
  /// False: a thread holds the lane, and goes on holding it.
  [[nodiscard]] bool report(std::uint64_t now_ns, protocols::port_report& found);

  // --- whoever opens it, one at a time -------------------------------------------------
  void open(bool exclusive) noexcept;
  void close() noexcept;
  /// Under HEDDLE_CHECKS. End the program unless the calling thread may use the lane, or wait on
  /// it.
  void check_use() const noexcept;
  void check_wait() const noexcept;

  // --- any thread ----------------------------------------------------------------------
  /// done, posted, busy_queue, busy_records, or why not.
  status submit(const protocols::command& c) noexcept;
  /// As submit, for a message and a receive: what ends or is filed at once needs no command.
  status send(rank to, tag t, std::span<const std::byte> data, const completion& done) noexcept;
  status call(rank to, handler_id h, std::span<const std::byte> header,
              std::span<const std::byte> payload, const completion& done) noexcept;
  status receive(rank from, const tag_match& t, std::span<std::byte> into,
                 const completion& done) noexcept;
  /// The short way to do something with the port: takes the lane, runs `work(port, batch)`, lets go
  /// and delivers. False, and nothing was done: the lane is held, commands wait in its queue and go
  /// first, or the calling thread may not drive it.
  template <class Work>
  bool held(Work&& work) noexcept;
  /// Nothing that flush(peer) waits for is in flight, and no peer was ever lost. False: ask by
  /// submit().
  [[nodiscard]] bool flushed(rank peer) noexcept;
  /// The program's poll: it also tells the executor that the program looks after the lane.
  std::size_t poll() noexcept;
  status probe(rank source, const tag_match& match, outcome& found) noexcept;
  status cancel(const completion& which) noexcept;
  /// Polls, then sleeps, until `s` has counted to `target`. False: `deadline_ns` came first
  /// (0: none).
  bool wait(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept;
  /// A turn of a thread that has nothing to do with the lane, unless somebody holds it: of a
  /// helper, or of the program. Returns how many things happened.
  std::size_t progress() noexcept;

  // --- the executor's thread -----------------------------------------------------------
  using readiness = sync::parking<>::readiness;
  /// A turn of the executor. `keep`: it has no other lane, and in mode dedicated keeps the hold.
  std::size_t serve(bool keep) noexcept;
  readiness prepare_sleep(bool keep) noexcept;
  /// Lets go what serve() holds, because the executor ends.
  void dismiss() noexcept;
  /// Looks for dead peers. False: could not, the lane is busy.
  bool maintain(std::uint64_t now_ns) noexcept;
  /// No thread waits here, and none has it to itself: in mode inline others of this rank move it,
  /// or what a peer waits for would rest as long as they wait for that peer.
  [[nodiscard]] bool left_alone() const noexcept {
    return waiting_.get() == 0 && !hold_.exclusive();
  }
  /// Several threads wait here on few cores, and leave the polling to the executor.
  [[nodiscard]] bool executor_polls() const noexcept;
  /// Something is in flight that needs maintain().
  [[nodiscard]] bool waiting() const noexcept { return port_.in_flight_hint() != 0; }

  // --- the end of the world: its thread, after the executors' -----------------------------
  [[nodiscard]] bool quiet() const noexcept { return port_.quiet() && !hold_.commands().pending(); }
  /// From now on everything is answered `closed`; what is under way has ended so on return.
  void end() noexcept;
  /// After the end of all lanes: nobody waits on this one any more. False: somebody still does, for
  /// a moment, and the endpoints stay.
  bool part() noexcept;

 private:
  // lane_core.cpp
  /// A poll of the endpoints, which disarms them.
  std::size_t advance(protocols::delivery_batch& batch) noexcept {
    disarm();
    return port_.progress(batch);
  }
  void disarm() noexcept {
    if (park_.is_armed()) [[unlikely]]
      wake_relying();
  }
  void wake_relying() noexcept;
  [[nodiscard]] bool only_inline() const noexcept {
    return help_.mode == progress_mode::inline_only;
  }
  [[nodiscard]] status busy_or_closed() const noexcept {
    return ended_.is_set() ? status::closed : status::busy_lane;
  }
  [[nodiscard]] bool dedicated() const noexcept { return help_.mode == progress_mode::dedicated; }
  [[nodiscard]] bool enter(const protocols::delivery_batch& batch) noexcept {
    return hold_.enter(&batch);
  }
  [[nodiscard]] executor& helper() const noexcept { return help_.keeper; }
  status choose(const protocols::command& c, protocols::delivery_batch& batch) noexcept;
  status execute(const protocols::command& c, protocols::delivery_batch& batch) noexcept;
  status execute_or_enqueue(const protocols::command& c, protocols::delivery_batch& batch) noexcept;
  status execute_held(const protocols::command& c, protocols::delivery_batch& batch) noexcept;
  status enqueue(const protocols::command& c, protocols::delivery_batch& batch) noexcept;
  [[nodiscard]] bool goes_inline(std::size_t bytes) const noexcept;
  [[gnu::noinline]] status send_rest(rank to, tag t, std::span<const std::byte> data,
                                     const completion& done, bool held) noexcept;
  [[gnu::noinline]] status call_rest(rank to, handler_id h, std::span<const std::byte> header,
                                     std::span<const std::byte> payload, const completion& done,
                                     bool held) noexcept;
  [[gnu::noinline]] status receive_rest(rank from, const tag_match& t, std::span<std::byte> into,
                                        const completion& done, bool held) noexcept;
  status submit_rest(const protocols::command& c, bool held) noexcept;
  void leave_free(protocols::delivery_batch& batch) noexcept;
  void end_queued(protocols::delivery_batch& batch) noexcept;
  void serve_queued(protocols::delivery_batch& batch) noexcept;
  status offload(const protocols::command& c, protocols::delivery_batch& batch) noexcept;
  void wake_helper() noexcept;
  void give_way() const noexcept;
  void release(protocols::delivery_batch& batch) noexcept;
  void release_slowly(protocols::delivery_batch& batch) noexcept;
  void release_served(protocols::delivery_batch& batch) noexcept;
  void leave_to_executor() noexcept;
  void hand_over(protocols::delivery_batch& batch) noexcept;
  bool drain(protocols::delivery_batch& batch, bool helping = false) noexcept;
  std::size_t poll_now(protocols::delivery_batch& batch) noexcept;
  bool enter_with_patience(const protocols::delivery_batch& batch) noexcept;
  std::size_t miss_poll() noexcept;
  std::size_t poll_otherwise(protocols::delivery_batch& batch) noexcept;

  // lane_wait.cpp
  void note_wait() noexcept;
  [[nodiscard]] bool alone() const noexcept;
  void poll_at_once(const detail::signal& s, protocols::delivery_batch& batch) noexcept;
  bool spin(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept;
  std::size_t drive(const detail::signal& s, std::uint64_t target) noexcept;
  std::size_t poll_turn(const detail::signal& s, std::uint64_t target,
                        protocols::delivery_batch& batch) noexcept;
  void look_on(const detail::signal& s, std::uint64_t target) const noexcept;
  void sleep_until_event(std::uint64_t deadline_ns, std::uint64_t backstop_ns) noexcept;
  bool prepare_wait() noexcept;
  [[nodiscard]] bool crowded() const noexcept;
  [[nodiscard]] bool patient() const noexcept;
  [[nodiscard]] bool executor_watches() const noexcept;
  bool sleep_behind_executor() noexcept;
  bool park(protocols::delivery_batch& batch) noexcept;
  void look_after_backstop() noexcept;

  // lane_serve.cpp
  std::size_t take_turn(protocols::delivery_batch& batch) noexcept;
  bool rest_served(protocols::delivery_batch& batch, bool watched, bool keep) noexcept;

  static constexpr std::uintptr_t nobody = 0, anybody = 1;

  // Constant.
  const int number_;
  const protocols::surroundings where_;
  const helpers help_;
  const bool callers_drive_;  // not in mode dedicated
  const bool polls_plainly_;  // likewise, nor mode inline
  const unique_fd bell_;  // mode inline: readable while sleepers of a disarmed lane have to look

  // Any thread.
  sync::published<std::uintptr_t> user_{nobody};  // the thread that may use it, by its batch
  sync::owned_counter opener_;
  sync::agreed_count waiting_;  // threads of the program in wait()
  sync::shared_counter collectives_;
  sync::owned_counter left_at_ns_;     // when the program left a large transfer; 0: it waited since
  sync::owned_counter waits_at_once_;  // how often in a row it waited right after leaving one
  sync::shared_counter missed_polls_;  // somebody else held it
  sync::event_bit asked_;              // a thread of the program wants the hold that serve() keeps
  // The end. Who queues something looks at ended_ after it, who ends the lane at the queue after
  // setting ended_: one of the two finds what was queued last.
  sync::agreed_flag ended_;
  sync::agreed_flag parted_;  // and everything on all lanes has been delivered
  std::mutex end_mutex_;      // whose owner empties the queue of an ended lane
  offload_model model_;
  lane_counters counters_;
  lane_hold hold_;

  // Holder only.
  protocols::port port_;
  sync::parking<> park_;  // who relies on the endpoints' descriptors

  bool serving_ = false;  // executor only: serve() has kept the hold
  int core_ = -1;         // whoever opens it
};

template <class Work>
bool lane_core::held(Work&& work) noexcept {
  protocols::delivery_batch& batch = protocols::delivery_batch::mine();
  if (!callers_drive_ || !hold_.enter(&batch)) return false;
  const bool first = !hold_.commands().pending();
  if (first) [[likely]]
    work(port_, batch);
  release(batch);
  batch.run();
  return first;
}

/// Lets go: in one step while nobody shares the lane or relies on its descriptors.
inline void lane_core::release(protocols::delivery_batch& batch) noexcept {
  if (park_.is_armed() || dedicated() || !hold_.leave(&batch)) [[unlikely]]
    release_slowly(batch);
}

}  // namespace heddle::engine
