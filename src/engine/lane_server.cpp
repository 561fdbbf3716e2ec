// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_server.h"

#include <thread>

#include "sync/cache_line.h"

namespace heddle::engine {
namespace {

using protocols::delivery_batch;

/// How often maintain() tries to get hold of a busy lane.
constexpr int hold_attempts = 256;
/// Of turns with nothing new in the next cell, so many are between two looks at the whole queue.
constexpr unsigned turns_between_words = 16;
/// How long the hold is left to a thread that asked for it.
constexpr int pauses_when_asked = 256;
/// How often a thread that has asked the executor to let go looks whether it has.
constexpr int patient_looks = 4096;

}  // namespace

std::size_t lane_server::progress() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || driver_.hold().in_use() || !driver_.hold().enter()) return 0;
  sync::parking<>& parked = driver_.parking().state();
  if (!parked.is_slept_on()) parked.note_poll(&batch);
  return take_turn(batch);
}

/// Executes what is queued, polls, and lets go. What threads of the program sleep on is not polled,
/// because that would disarm it.
std::size_t lane_server::take_turn(delivery_batch& batch) noexcept {
  const bool queued = driver_.commands().pending();
  if (queued) (void)driver_.drain(batch, lane_driver::drained_by::helper);
  const bool slept_on = driver_.parking().state().is_slept_on();
  const std::size_t events = (slept_on ? 0 : driver_.advance(batch)) + (queued ? 1 : 0);
  driver_.release(batch);
  return events + batch.run();
}

/// Who has borrowed the lane and uses it just now keeps it.
bool lane_server::enter() noexcept {
  return !driver_.hold().in_use() && driver_.hold().visit();
}

/// Of mode dedicated: executes what is there; 1 if there was something. Looks at the word that
/// producers change only now and then, for what lies behind a producer that was interrupted.
std::size_t lane_server::take_queued(delivery_batch& batch) noexcept {
  using by = lane_driver::drained_by;
  const bool next = driver_.commands().next_is_there();
  if (!next && (++turns_ % turns_between_words != 0 || !driver_.commands().pending())) return 0;
  (void)driver_.drain(batch, next ? by::sole_server : by::helper);
  return 1;
}

/// In the other modes it takes turns with everybody. In mode dedicated nobody else drives, so the
/// hold is kept as long as there is no program's code to run: a look at an idle lane costs no
/// exchange, and who hands something in finds the word in its own cache.
/// Not by an executor of several lanes: it would run the callbacks of one under the hold of
/// another.
std::size_t lane_server::serve(bool keep) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!serving_ && !enter()) return 0;
  program_polls_ = driver_.parking().state().is_polled();
  if (!driver_.help().dedicated()) return take_turn(batch);
  serving_ = true;
  const std::size_t events = driver_.advance(batch) + take_queued(batch);
  if (keep) batch.run_raises();
  const bool asked = asked_.is_set();
  if (keep && batch.empty() && !asked) return events;
  return events + let_others_in(batch, asked);
}

std::size_t lane_server::let_others_in(delivery_batch& batch, bool asked) noexcept {
  dismiss();
  const std::size_t ran = batch.run();
  if (asked) {
    asked_.clear();
    for (int i = 0; i < pauses_when_asked; ++i) sync::relax();
    std::this_thread::yield();  // who asked may be waiting for this core
  }
  return ran;
}

void lane_server::dismiss() noexcept {
  if (!serving_) return;
  serving_ = false;
  driver_.commands().let_go();
}

lane_server::readiness lane_server::prepare_sleep(bool keep) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!serving_ && !enter()) {
    listening_.turn_away([this](bool wanted) { return watch(wanted); });
    return readiness::polled;
  }
  protocols::port& port = driver_.port();
  const auto arm = [&] { return port.progress(batch) == 0 && port.arm(); };
  if (driver_.parking().is_away()) driver_.parking().state().note_poll(this);
  readiness r = driver_.parking().state().look(driver_.commands().pending(), arm);
  driver_.parking().note_rest(port.in_flight_hint() == 0);
  if (r != readiness::work)
    listening_.decide(r == readiness::watched, [this](bool wanted) { return watch(wanted); });
  if (!driver_.help().dedicated()) {
    driver_.release_armed(batch, r != readiness::work ? borrower() : nullptr);
  } else if (!rest_served(batch, r == readiness::watched, keep)) {
    r = readiness::work;
  }
  return batch.run() != 0 ? readiness::work : r;
}

/// To whom the lane is lent until the next look; null: to nobody. In mode idle helpers would ask
/// for it all the time.
const void* lane_server::borrower() noexcept {
  if (driver_.help().mode != progress_mode::adaptive || !sync::enable_asymmetric_here())
    return nullptr;
  const lane_hold::use last = driver_.hold().last_use();
  const void* const user =
      last.by != sync::this_thread() ? last.by : nullptr;  // not a handler here
  return lender_.lends_to(user, last.contested) ? user : nullptr;
}

/// The executor knows the lanes that it makes ready for its rest.
bool lane_server::watch(bool wanted) noexcept {
  return driver_.help().alarm.watch(driver_.port().endpoints().all(), wanted);
}

/// In mode dedicated only the executor arms; in mode idle it is not the executor that goes on.
bool lane_server::leave_to_descriptors() noexcept {
  if (driver_.help().mode != progress_mode::adaptive) return false;
  const auto arm = [&] {
    const bool armed = driver_.port().arm_loosely();
    if (armed) driver_.parking().note_rest(false);  // it looks at the next tick
    return armed;
  };
  const readiness r = driver_.parking().state().leave(arm);
  const auto watching = [this](bool wanted) { return watch(wanted); };
  return r == readiness::covered || (r == readiness::watched && listening_.begin(watching));
}

/// False: there is more to do. The hold goes in any case when there is something to deliver.
bool lane_server::rest_served(delivery_batch& batch, bool watched, bool keep) noexcept {
  serving_ = true;
  if (watched && batch.empty() && driver_.commands().release_empty()) {
    serving_ = false;
    return true;
  }
  (void)driver_.parking().state().disarm();  // only this thread relied on it
  if (!batch.empty() || !keep) dismiss();
  return false;
}

bool lane_server::maintain(std::uint64_t now_ns) noexcept {
  // In mode inline no tick would lend it again.
  const void* const borrower = driver_.help().only_inline() ? driver_.hold().lent_to() : nullptr;
  delivery_batch& batch = delivery_batch::mine();
  for (int i = 0; i < hold_attempts; ++i) {
    if (!serving_ && !driver_.hold().visit()) {
      sync::relax();
      continue;
    }
    driver_.port().maintain(now_ns, batch);
    serving_ = false;
    if (borrower == nullptr || driver_.parking().state().is_armed() ||
        !driver_.hold().lend(borrower))
      driver_.release(batch);
    batch.run();
    return true;
  }
  return false;
}

bool lane_server::enter_with_patience() noexcept {
  if (driver_.help().only_inline()) driver_.help().keeper.serve_inline();
  return enter_asking();
}

bool lane_server::enter_asking() noexcept {
  if (driver_.hold().enter()) return true;
  if (!driver_.help().dedicated()) return false;
  ask();
  for (int i = 0; i < patient_looks; ++i) {
    if (driver_.hold().enter()) return true;
    sync::relax();
  }
  std::this_thread::yield();  // the executor may be waiting for this core
  return driver_.hold().enter();
}

}  // namespace heddle::engine
