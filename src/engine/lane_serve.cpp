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
/// How often the end of the world looks whether those who wait have gone.
constexpr int looks_for_waiters = 1000;
/// How long the hold is left to a thread that asked for it.
constexpr int pauses_when_asked = 256;

}  // namespace

std::size_t lane_core::progress() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  const lane_lock::scope locked(lock_, batch);
  if (batch.running() || !hold_.enter(&batch)) return 0;
  // What a sleeper of the program is told of is the sleeper's: polling would stop the telling.
  const bool covered = telling_ && sleepers_.get() != 0;
  const bool queued = hold_.commands().pending();
  if (queued) (void)drain(batch, true);
  const std::size_t events = (covered ? 0 : advance(batch)) + (queued ? 1 : 0);
  release(batch);
  return events + batch.run();
}

/// Nobody else drives in mode dedicated, so the hold is kept as long as there is nothing to
/// deliver: a look at an idle lane costs no exchange. Not by an executor of several lanes: it would
/// run the callbacks of one under the hold of another.
std::size_t lane_core::serve(bool keep) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!serving_ && !hold_.enter(&batch)) return 0;
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
  if (!serving_ && !hold_.enter(&batch)) return readiness::attended;
  readiness r = look_before_sleep(batch);
  armed_ = r == readiness::armed || r == readiness::covered;
  watched_ = r == readiness::armed;
  if (!dedicated()) {
    release(batch);
  } else if (!let_served_go(batch, keep)) {
    r = readiness::work;
  }
  return batch.run() != 0 ? readiness::work : r;
}

lane_core::readiness lane_core::look_before_sleep(delivery_batch& batch) noexcept {
  const bool polled = std::exchange(polls_seen_, polls_) != polls_;
  if (hold_.commands().pending()) return readiness::work;
  if (polled && !std::exchange(left_, false)) return readiness::attended;
  if (telling_ && sleepers_.get() != 0) return readiness::covered;
  return advance(batch) == 0 && arm() ? readiness::armed : readiness::work;
}

/// False: there is more to do. The hold goes in any case when there is something to deliver.
bool lane_core::let_served_go(delivery_batch& batch, bool keep) noexcept {
  serving_ = true;
  if (armed_ && batch.empty() && hold_.commands().release_empty()) {
    serving_ = false;
    return true;
  }
  armed_ = telling_ = false;
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
