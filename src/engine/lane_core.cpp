#include "engine/lane_core.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "engine/executor.h"
#include "engine/idle_team.h"
#include "sync/cache_line.h"

namespace heddle::engine {
namespace {

using protocols::command;
using protocols::command_kind;
using protocols::delivery_batch;
using queue = lane_hold::queue;

constexpr std::size_t queue_capacity = 1024;
/// Commands one thread executes for others before the executor has to take over.
constexpr std::size_t drain_limit = 256;
/// Larger transfers are worth waking the executor for.
constexpr std::size_t large_bytes = 16 * 1024;
/// After so many waits in a row right behind a transfer the program is taken for one that always
/// waits.
constexpr std::uint64_t believed_waits = 3;
/// Of so many polls that find the lane held, one boosts the helpers, which costs system calls.
constexpr std::uint64_t polls_before_boost = 32;
/// How often a thread that has asked the executor to let go looks whether it has.
constexpr int patient_looks = 4096;

bool moves_data(const command& c) noexcept {
  return c.kind == command_kind::send || c.kind == command_kind::call ||
         c.kind == command_kind::put;
}

}  // namespace

lane_core::lane_core(int number, const protocols::surroundings& where,
                     std::vector<std::unique_ptr<transport::endpoint>> endpoints,
                     const helpers& help)
    : number_(number),
      where_(where),
      help_(help),
      callers_drive_(!dedicated()),
      polls_plainly_(callers_drive_ && !only_inline()),
      bell_(only_inline() ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1),
      model_(help.mode),
      hold_(queue_capacity),
      port_(*this, where, std::move(endpoints)) {
  if (only_inline() && !bell_) fail_errno(errno, "open a lane: no descriptors left (ulimit -n)");
}

void lane_core::open(bool exclusive) noexcept {
  core_ = sched_getcpu();
  opener_.set(static_cast<std::uint64_t>(gettid()));
  user_.set(exclusive ? reinterpret_cast<std::uintptr_t>(&delivery_batch::mine()) : anybody);
  if (!exclusive || dedicated() || !sync::enable_asymmetric()) return;
  while (!hold_.reserve(&delivery_batch::mine())) give_way();
  helper().wake_deep();  // what a handler has queued meanwhile is left to it
}

void lane_core::close() noexcept {
  user_.set(nobody);
  if (!hold_.exclusive()) return;
  while (!hold_.unreserve()) give_way();
  helper().wake_deep();
}

/// Another thread holds the lane for a moment. It may be a helper that has lost its core.
void lane_core::give_way() const noexcept {
  if (help_.team != nullptr) help_.team->boost();
  std::this_thread::yield();
}

/// The descriptors tell nothing any more. Threads asleep on them are woken in mode inline only: in
/// the others the executor looks after the lane for them.
void lane_core::wake_relying() noexcept {
  const auto before = park_.disarm();
  if (bell_ && before.sleepers) eventfd_write(bell_.get(), 1);
  if (before.executor) helper().wake_deep();
}

// --- submitting ------------------------------------------------------------------------

/// A blocking form goes on to poll in the turn in which it posts; a large transfer is left to the
/// executor, since the program may compute meanwhile.
inline status lane_core::execute(const command& c, delivery_batch& batch) noexcept {
  const status s = port_.execute(c, batch);
  if (s != status::posted) return s;
  if (c.memory.size() > large_bytes)
    leave_to_executor();
  else if (const detail::signal* ended = detail::awaited::in(c.done))
    poll_at_once(*ended, batch);
  return s;
}

status lane_core::submit(const command& c) noexcept {
  if (model_.considers(c.memory.size())) [[unlikely]]
    return choose(c, delivery_batch::mine());
  status s = status::done;
  if (held([&](protocols::port&, delivery_batch& batch) { s = execute(c, batch); })) [[likely]]
    return s;
  return execute_or_enqueue(c, delivery_batch::mine());
}

/// Posts nothing, so letting go takes no look at what was posted.
bool lane_core::flushed(rank peer) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!callers_drive_ || !enter(batch)) return false;
  const bool nothing = !hold_.commands().pending() && port_.in_flight_hint() == 0 &&
                       port_.counters().lost_peers.get() == 0;
  if (!hold_.leave(&batch)) [[unlikely]] {
    release_slowly(batch);
    batch.run();
  }
  return nothing && peer >= any_source && peer < where_.size;
}

status lane_core::execute_or_enqueue(const command& c, delivery_batch& batch) noexcept {
  return enter(batch) ? execute_held(c, batch) : enqueue(c, batch);
}

/// What was queued goes first, commands of this very thread perhaps.
status lane_core::execute_held(const command& c, delivery_batch& batch) noexcept {
  if (hold_.commands().pending() && !drain(batch)) {
    hand_over(batch);
    batch.run();  // also when ours is refused
    return enqueue(c, batch);
  }
  const status s = execute(c, batch);
  release(batch);
  batch.run();
  return s;
}

/// Executes it here or leaves it to others: in mode adaptive as the model says, which learns from
/// some of them.
status lane_core::choose(const command& c, delivery_batch& batch) noexcept {
  if (batch.running()) return execute_or_enqueue(c, batch);
  if (help_.mode != progress_mode::adaptive) return offload(c, batch);
  if (!moves_data(c)) return execute_or_enqueue(c, batch);
  const bool leaves = model_.leave(c.memory.size()), sampled = model_.samples();
  if (!sampled) return leaves ? offload(c, batch) : execute_or_enqueue(c, batch);
  const std::uint64_t begin = now_ns();
  if (leaves) {
    command stamped = c;
    stamped.stamped = true;
    const std::uint64_t rings = helper().rings();
    model_.leaving(begin);  // first: it may be picked up at once
    const status s = offload(stamped, batch);
    const std::uint64_t end = now_ns();
    model_.left(end - begin, helper().rings() != rings);
    left_at_ns_.set(end);
    return s;
  }
  const status s = execute_or_enqueue(c, batch);
  const std::uint64_t end = now_ns();
  model_.submitted(c.memory.size(), end - begin);
  left_at_ns_.set(end);
  return s;
}

/// Leaves it to whoever comes first: the executor or a helper, who are told, or a wait.
status lane_core::offload(const command& c, delivery_batch& batch) noexcept {
  if (ended_.is_set()) [[unlikely]]
    return status::closed;
  if (port_.in_flight_hint() >= where_.config->records) [[unlikely]]  // it may need no record
    return enter_with_patience(batch) ? execute_held(c, batch) : status::busy_records;
  queue& commands = hold_.commands();
  const queue::left how = dedicated() ? commands.hand_in(c) : commands.leave(c);
  if (how == queue::left::full) return status::busy_queue;
  if (ended_.is_set()) [[unlikely]]
    end_queued(batch);
  if (!dedicated()) counters_.left.next();
  if (how == queue::left::unattended || hold_.exclusive()) wake_helper();
  return status::posted;
}

void lane_core::wake_helper() noexcept {
  if (help_.team != nullptr) return help_.team->wake();
  helper().wake();
}

status lane_core::enqueue(const command& c, delivery_batch& batch) noexcept {
  if (ended_.is_set()) [[unlikely]]
    return status::closed;
  if (port_.in_flight_hint() >= where_.config->records) return status::busy_records;
  const queue::pushed how = hold_.commands().push(c);
  if (how == queue::pushed::full) return status::busy_queue;
  if (how == queue::pushed::held) release_slowly(batch);
  if (hold_.exclusive()) [[unlikely]]
    serve_queued(batch);
  if (ended_.is_set()) [[unlikely]]
    end_queued(batch);
  batch.run();
  return status::posted;
}

/// Of a lane that ended while it was being queued: nobody else comes for it.
void lane_core::end_queued(delivery_batch& batch) noexcept {
  {
    const std::lock_guard lock(end_mutex_);
    (void)hold_.commands().drain(queue_capacity, [&](const command& c) {
      batch.add(c.done, {.code = status::closed, .peer = c.peer, .tag = 0, .bytes = 0});
    });
  }
  batch.run();
}

/// After a push to an exclusive lane, whose holder may have looked at the queue before the push.
void lane_core::serve_queued(delivery_batch& batch) noexcept {
  if (enter(batch)) return release_slowly(batch);
  helper().wake();
}

/// False: a thread has executed enough for others, and the executor has to take over.
bool lane_core::drain(delivery_batch& batch, bool helping) noexcept {
  port_.begin_batch();
  const bool all = hold_.commands().drain(drain_limit, [&](const command& c) {
    if (helping) counters_.picked.add();
    if (c.stamped) [[unlikely]]
      model_.picked_up(now_ns(), helping);
    port_.execute_accepted(c, batch);
  });
  port_.end_batch(batch);
  return all;
}

/// Lets go when nothing is queued, or the executor was told.
void lane_core::release_slowly(delivery_batch& batch) noexcept {
  do {
    if (hold_.commands().pending() && !drain(batch)) return hand_over(batch);
    if (park_.is_armed() && port_.unsent()) wake_relying();  // it leaves by a poll
    if (dedicated()) return release_served(batch);
  } while (!hold_.leave(&batch));
}

/// In mode dedicated a thread that hands in while the lane is held takes the holder for the
/// executor and wakes nobody, so another holder does it.
void lane_core::release_served(delivery_batch& batch) noexcept {
  hold_.abandon(&batch);
  if (hold_.commands().pending()) helper().wake();
}

/// Lets go with commands left in the queue, which the executor takes.
void lane_core::hand_over(delivery_batch& batch) noexcept {
  disarm();
  hold_.abandon(&batch);
  dedicated() ? helper().wake() : helper().wake_deep();
}

/// A large transfer goes on while the program computes, if it does: then the executor has to look
/// after the lane at once, not at its next tick. A program that waits at once does so itself, and
/// is believed to do it again.
void lane_core::leave_to_executor() noexcept {
  left_at_ns_.set(now_ns());
  if (waits_at_once_.get() >= believed_waits) return;
  park_.forget_polls();
  helper().keep_off(sched_getcpu());
  helper().wake();
}

// --- polling and asking ----------------------------------------------------------------

inline std::size_t lane_core::poll_now(delivery_batch& batch) noexcept {
  if (!enter(batch)) [[unlikely]]
    return miss_poll();
  park_.note_poll(&batch);
  const std::size_t events = advance(batch);
  if (!hold_.leave(&batch)) [[unlikely]]  // release() would look whether the lane is armed
    release_slowly(batch);
  return batch.empty() ? events : events + batch.run();
}

/// A helper of mode idle holds the lane, perhaps, and the polling thread may have its core.
std::size_t lane_core::miss_poll() noexcept {
  if (help_.team != nullptr && missed_polls_.next() % polls_before_boost == 0) help_.team->boost();
  return 0;
}

std::size_t lane_core::poll() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running()) return 0;
  return polls_plainly_ ? poll_now(batch) : poll_otherwise(batch);
}

std::size_t lane_core::poll_otherwise(delivery_batch& batch) noexcept {
  if (dedicated()) {  // the executor may need this core
    std::this_thread::yield();
    return 0;
  }
  if (only_inline()) helper().serve_inline();
  return poll_now(batch);
}

/// For questions, which have to be answered at once and so cannot be queued: in mode dedicated it
/// asks the executor to let the lane go for a moment.
bool lane_core::enter_with_patience(const delivery_batch& batch) noexcept {
  if (only_inline()) helper().serve_inline();
  if (enter(batch)) return true;
  if (!dedicated()) return false;
  asked_.set();
  for (int i = 0; i < patient_looks; ++i) {
    if (enter(batch)) return true;
    sync::relax();
  }
  return false;
}

status lane_core::probe(rank source, const tag_match& match, outcome& found) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!enter_with_patience(batch)) return busy_or_closed();
  (void)drain(batch);
  park_.note_poll(&batch);
  advance(batch);
  const status s = port_.probe(source, match, found);
  release(batch);
  batch.run();
  return s;
}

status lane_core::cancel(const completion& which) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!enter_with_patience(batch)) return busy_or_closed();
  (void)drain(batch);   // the receive itself may be queued
  if (only_inline()) {  // nobody else would, ever
    park_.note_poll(&batch);
    advance(batch);
  }
  const status s = port_.cancel(which, batch);
  release(batch);
  batch.run();
  return s;
}

// --- misuse ----------------------------------------------------------------------------

/// Completions and handlers use any lane, wherever they run.
void lane_core::check_use() const noexcept {
  const delivery_batch& batch = delivery_batch::mine();
  const std::uintptr_t user = user_.get();
  if (user == anybody || user == reinterpret_cast<std::uintptr_t>(&batch) || batch.running())
    return;
  if (user == nobody)
    sync::end_for_misuse(place(), "a lane is used after its end",
                         "keep the heddle::lane until then");
  sync::end_for_misuse(place(), "a second thread uses a lane that was opened exclusive",
                       "open it without `exclusive`, or give that thread a lane of its own");
}

/// A completion that waits may wait for something that its own thread would have to do.
void lane_core::check_wait() const noexcept {
  if (delivery_batch::mine().running())
    sync::end_for_misuse(place(), "a blocking call inside a completion, a handler or a task",
                         "post with try_* there, or co_await (docs/guide/threads.md)");
  check_use();
}

}  // namespace heddle::engine
