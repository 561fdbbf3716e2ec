// lane_serve.cpp - what others than the waiting program do for a lane: the executor, idle helpers.
#include <thread>
#include <utility>

#include "engine/executor.h"
#include "engine/lane_core.h"
#include "sync/cache_line.h"

namespace heddle::engine {
namespace {

using protocols::delivery_batch;

/// How often maintain() tries to get hold of a busy lane.
constexpr int hold_attempts = 256;
/// How often the end of the world looks whether the threads that wait have gone.
constexpr int looks_for_waiters = 1000;
/// How long the hold is left to a thread that asked for it.
constexpr int pauses_when_asked = 256;

}  // namespace

std::size_t lane_core::progress() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || !hold_.enter(&batch)) return 0;
  if (!park_.is_slept_on()) park_.note_poll(&batch);
  return take_turn(batch);
}

/// Executes what is queued, polls, and lets go. What threads of the program sleep on is not polled,
/// because that would disarm it.
std::size_t lane_core::take_turn(delivery_batch& batch) noexcept {
  const bool queued = hold_.commands().pending();
  if (queued) (void)drain(batch, true);
  const std::size_t events = (park_.is_slept_on() ? 0 : advance(batch)) + (queued ? 1 : 0);
  release(batch);
  return events + batch.run();
}

/// In the other modes it takes turns with everybody. In mode dedicated nobody else drives, so the
/// hold is kept as long as there is nothing to deliver: a look at an idle lane costs no exchange.
/// Not by an executor of several lanes: it would run the callbacks of one under the hold of
/// another.
std::size_t lane_core::serve(bool keep) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!serving_ && !hold_.enter(&batch)) return 0;
  if (!dedicated()) return take_turn(batch);
  serving_ = true;
  const bool queued = hold_.commands().pending();
  if (queued) (void)drain(batch, true);
  const std::size_t events = advance(batch) + (queued ? 1 : 0);
  const bool asked = asked_.is_set();
  if (keep && batch.empty() && !asked) return events;
  dismiss();
  const std::size_t ran = batch.run();
  if (asked) {
    asked_.clear();
    for (int i = 0; i < pauses_when_asked; ++i) sync::relax();
  }
  return events + ran;
}

void lane_core::dismiss() noexcept {
  if (!serving_) return;
  serving_ = false;
  hold_.commands().let_go();
}

lane_core::readiness lane_core::prepare_sleep(bool keep) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!serving_ && !hold_.enter(&batch)) return readiness::polled;
  const auto arm = [&] { return port_.progress(batch) == 0 && port_.arm(); };
  readiness r = park_.look(hold_.commands().pending(), arm);
  if (!dedicated()) {
    release(batch);
  } else if (!rest_served(batch, r == readiness::watched, keep)) {
    r = readiness::work;
  }
  return batch.run() != 0 ? readiness::work : r;
}

/// False: there is more to do. The hold goes in any case when there is something to deliver.
bool lane_core::rest_served(delivery_batch& batch, bool watched, bool keep) noexcept {
  serving_ = true;
  if (watched && batch.empty() && hold_.commands().release_empty()) {
    serving_ = false;
    return true;
  }
  (void)park_.disarm();  // only this thread relied on it
  if (!batch.empty() || !keep) dismiss();
  return false;
}

bool lane_core::maintain(std::uint64_t now_ns) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  for (int i = 0; i < hold_attempts; ++i) {
    if (!serving_ && !hold_.enter(&batch)) {
      sync::relax();
      continue;
    }
    port_.maintain(now_ns, batch);
    serving_ = false;
    release(batch);
    batch.run();
    return true;
  }
  return false;
}

void lane_core::end() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  while (hold_.exclusive() && !hold_.unreserve()) give_way();
  while (!hold_.retire()) give_way();
  ended_.set(true);
  {
    const std::lock_guard lock(end_mutex_);
    while (!drain(batch)) {
    }
    port_.abort(status::closed, batch);
  }
  batch.run();
}

bool lane_core::part() noexcept {
  parted_.set(true);
  for (int i = 0; i < looks_for_waiters && waiting_.get() != 0; ++i) std::this_thread::yield();
  if (waiting_.get() != 0) return false;
  port_.close();
  return true;
}

}  // namespace heddle::engine
