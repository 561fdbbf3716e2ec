// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_driver.h"

#include <thread>
#include <utility>

#include "base/clock.h"
#include "tracing/recorder.h"

namespace heddle::engine {

using protocols::command;

lane_driver::lane_driver(lane_core& lane, const protocols::surroundings& where,
                         std::vector<std::unique_ptr<transport::endpoint>> endpoints,
                         const helpers& help)
    : where_(where),
      help_(help),
      hold_(queue_capacity),
      model_(help.mode),
      port_(lane, where, std::move(endpoints)),
      parking_(help) {}

void lane_driver::give_way() const noexcept {
  help_.boost();
  std::this_thread::yield();
}

bool lane_driver::drain(delivery_batch& batch, drained_by who) noexcept {
  const bool helping = who != drained_by::user;
  trace::span help(trace::event_kind::help, {where_.self, where_.lane}, true);
  std::uint64_t executed = 0;
  port_.dispatch().begin_batch();
  const auto execute = [&](const command& c) {
    ++executed;
    if (helping) model_.counters().picked.add();
    if (c.stamped) [[unlikely]]
      model_.picked_up(now_ns(), helping);
    port_.dispatch().execute_accepted(c, batch);
  };
  bool all = true;
  if (who == drained_by::sole_server)
    commands().take_row(drain_limit, execute);
  else
    all = commands().drain(drain_limit, execute);
  port_.dispatch().end_batch(batch);
  if (is_full() != was_full_.get()) [[unlikely]]
    was_full_.set(is_full());
  help.set_amount(executed);
  return all;
}

void lane_driver::release_slowly(delivery_batch& batch) noexcept {
  do {
    if (commands().pending() && !drain(batch)) return hand_over();
    // What is unsent leaves by a poll.
    if (parking_.state().is_armed() && (is_blind() || port_.unsent())) parking_.disarm_and_wake();
    if (help_.dedicated()) {
      // Who has handed in meanwhile took the holder for the executor, and woke nobody.
      hold_.abandon();
      if (commands().pending()) help_.alarm.wake();
      return;
    }
  } while (!hold_.leave());
}

[[gnu::noinline]] void lane_driver::release_and_deliver() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  release_slowly(batch);
  batch.run();
}

void lane_driver::hand_over() noexcept {
  parking_.disarm();
  hold_.abandon();
  help_.alarm.wake();
}

}  // namespace heddle::engine
