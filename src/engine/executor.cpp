// SPDX-License-Identifier: BSD-3-Clause
#include "engine/executor.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/own_thread.h"
#include "engine/inline_round.h"
#include "engine/lane_core.h"
#include "engine/placement.h"
#include "engine/progress_mode.h"
#include "engine/world_core.h"
#include "sync/asymmetric.h"
#include "tracing/recorder.h"

namespace heddle::engine {
namespace {

/// A tick where the program's thread has given its core to a peer and waits for its turn.
constexpr int tick_while_away_ms = 8;
/// Mode idle: helpers may get no core, so the executor looks after what is queued.
constexpr int backstop_ms = 4;
/// Devices tell by their descriptors when to serve them; a busy executor looks without being told.
constexpr unsigned turns_between_devices = 64;
/// Awake without work it lets other threads of its core run so often.
constexpr unsigned turns_between_yields = 16;
/// The executor is moved away from computing threads at most so often.
constexpr std::uint64_t move_every_ns = 10'000'000;
/// In mode inline a polling thread does the executor's duties at most so often.
constexpr std::uint64_t serve_every_ns = 50'000;

}  // namespace

executor::executor(world_core& world, int index, int of, std::uint64_t spin_ns)
    : world_(world),
      index_(index),
      mode_(mode_of(world.config())),
      spin_ns_(spin_ns),
      maintain_every_ms_(std::clamp<std::uint64_t>(world.config().peer_timeout_ms / 8, 5, 1000)),
      place_(world.self(), mode_ == progress_mode::dedicated),
      lanes_(world.lanes(), place_, index, of) {
  unserved_.set(true);
  if (mode_ == progress_mode::dedicated)
    (void)choose_core(world.config().executor_cores, index, {}, {});  // refused now
}

executor::~executor() {
  if (mode_ == progress_mode::inline_only) world_.inline_worlds()->remove(*this);
  stop();
}

/// Mode inline: nobody does its duties until unserved_ is set again. Waits for who does them.
void executor::take_duties() noexcept {
  while (!unserved_.take()) std::this_thread::yield();  // it is for a moment
}

void executor::start() {
  if (mode_ == progress_mode::inline_only) take_duties();
  try {
    start_thread_now();
  } catch (...) {
    if (mode_ == progress_mode::inline_only) unserved_.set(true);
    throw;
  }
}

void executor::start_thread_now() {
  if (index_ == 0) place_.add(world_.network().devices());
  place_.share_core(world_.network().ranks_per_core());
  if (mode_ == progress_mode::adaptive) (void)sync::enable_asymmetric_here();  // takes a moment
  stop_.clear();
  cores_ = usable_cores();
  avoided_.set(0);
  thread_ = start_thread("heddle", [this] { run(); });
}

void executor::stop() {
  if (!thread_.joinable()) return;
  stop_.set();
  place_.interrupt();
  thread_.join();
  if (mode_ == progress_mode::inline_only) unserved_.set(true);
}

void executor::leave_to_others() {
  world_.inline_worlds()->add(*this);
}

void executor::end() {
  if (mode_ == progress_mode::inline_only) world_.inline_worlds()->remove(*this);
  stop();
  if (mode_ == progress_mode::inline_only) take_duties();
}

void executor::keep_off(int core) noexcept {
  const auto number = static_cast<std::uint64_t>(core) + 1;
  if (core < 0 || mode_ == progress_mode::dedicated || mode_ == progress_mode::inline_only ||
      avoided_.get() == number)
    return;
  const std::uint64_t now = now_ns();
  if (now < next_move_ns_.get()) return;
  next_move_ns_.set(now + move_every_ns);
  if (engine::keep_off(thread_.native_handle(), cores_, core)) avoided_.set(number);
}

void executor::lanes_changed() noexcept {
  changed_.set();
  place_.interrupt();
}

void executor::run() {
  trace::this_thread_is(trace::role::executor);
  adopt_lanes();
  while (!stop_.is_set()) {
    if (mode_ == progress_mode::inline_only) world_.inline_worlds()->serve_others(*this);
    if (!stays_awake(work())) sleep();
  }
  lanes_.dismiss();
}

std::size_t executor::work() {
  if (changed_.is_set()) adopt_lanes();
  std::size_t count = 0;
  auto told = std::exchange(told_by_, by::lane);
  if (++turns_ % turns_between_devices == 0) told = by::others;
  if (told != by::lane) {
    if (index_ == 0) count += serve_devices(told == by::others);
    lanes_.maintain(maintain_every_ms_);
  }
  return count + lanes_.serve();
}

/// Those that have not `told` are not asked; lanes that could not be made before are tried again.
std::size_t executor::serve_devices(bool told) {
  const auto devices = world_.network().devices();
  return world_.lanes().serve(devices.first(told ? devices.size() : 0));
}

/// After an event a dedicated executor stays awake for the spin budget, and one that polls for
/// many on few cores; any other after it was given something to submit: more may come.
bool executor::stays_awake(std::size_t events) {
  if (events == 0 && awake_until_ns_ == 0) return false;
  // In mode dedicated nobody asks, and threads that wait write these lines.
  const auto [picked, polls] =
      mode_ == progress_mode::dedicated ? executor_lanes::demand{} : lanes_.asked();
  const std::uint64_t now = now_ns();
  if (std::exchange(picked_, picked) != picked ||
      ((mode_ == progress_mode::dedicated || polls) && events != 0))
    awake_until_ns_ = now + spin_ns_;
  if (events != 0) return true;
  if (now < awake_until_ns_) {
    if (polls || ++idle_turns_ % turns_between_yields == 0) std::this_thread::yield();
    return true;
  }
  awake_until_ns_ = 0;
  return false;
}

void executor::sleep() {
  place_.begin();
  const auto rest = prepare();
  if (!rest) return place_.stay_up();
  told_by_ = place_.sleep(*rest);
}

/// Gets every lane ready for a rest, and says which. None: there is work.
std::optional<resting_place::rest> executor::prepare() {
  const executor_lanes::readiness lanes = lanes_.prepare_rest();
  if (lanes.work || stop_.is_set() || changed_.is_set()) return {};
  const bool look_soon = lanes_.overdue() || is_shared_inline();
  const int away_ms = lanes.away && !look_soon ? tick_while_away_ms : 0;
  if (lanes.polled || look_soon) return {{lanes.polled, std::max(place_.tick_ms(), away_ms)}};
  if (mode_ == progress_mode::idle) return {{.timeout_ms = backstop_ms}};
  if (lanes.in_flight) return {{.timeout_ms = std::max(2, static_cast<int>(maintain_every_ms_))}};
  return resting_place::rest{};
}

void executor::adopt_lanes() {
  changed_.clear();
  lanes_.adopt();
  if (mode_ == progress_mode::dedicated) settle();
}

/// Goes next to the threads that opened its lanes, once: then no other core is usable.
void executor::settle() {
  if (core() >= 0) return;
  std::vector<int> mine, all;
  world_.lanes().for_each([&](const lane_core& lane) {
    if (lane.user().core() < 0) return;
    all.push_back(lane.user().core());
    if (lanes_.has(lane)) mine.push_back(lane.user().core());
  });
  const int core = choose_core(world_.config().executor_cores, index_, mine, all);
  if (core >= 0 && tie_to_core(core)) core_.set(static_cast<std::uint64_t>(core) + 1);
}

void executor::serve_inline() noexcept {
  serve_own();
  world_.inline_worlds()->serve_others(*this);
}

bool executor::is_shared_inline() const noexcept {
  return mode_ == progress_mode::inline_only && world_.inline_worlds()->has_several();
}

void executor::serve_own() noexcept {
  const std::uint64_t now = now_ns();
  if (now < next_serve_ns_.get() || !unserved_.take()) return;
  next_serve_ns_.set(now + serve_every_ns);
  try {
    world_.lanes().serve(world_.network().devices());
    if (changed_.is_set()) adopt_lanes();
  } catch (const std::exception&) {  // out of memory: tried again
  }
  lanes_.maintain(maintain_every_ms_);
  lanes_.serve_left_alone();
  unserved_.set(true);
}

}  // namespace heddle::engine
