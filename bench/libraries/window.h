// SPDX-License-Identifier: BSD-3-Clause
// window.h - how a thread uses a lane: with a bounded number of operations in flight, or one. Every
// call and poll can be put under one plain lock, which is what published designs of multithreaded
// communication do, to compare with.
#pragma once
#include <fmt/core.h>
#include <heddle/heddle.h>
#include <sched.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

namespace heddle::bench {

/// Throws std::runtime_error naming `what` and the status when it is a failure.
inline void require(status s, const char* what) {
  if (!accepted(s)) throw std::runtime_error(fmt::format("{}: {}", what, name_of(s)));
}

/// How the threads of a benchmark use a lane. A value of two words. With a lock, what waits polls,
/// each time with a turn of the lock, and gives its core away after some polls in vain. Callbacks
/// run under the lock already, and take none.
class locked_lane {
 public:
  /// `lock` is null: the calls are the lane's own.
  locked_lane(lane& on, std::mutex* lock) noexcept : lane_(on), lock_(lock) {}

  /// `call()`, which uses the lane and does not wait.
  template <class F>
  [[gnu::always_inline]] auto turn(F call) const {
    if (lock_ == nullptr) [[likely]]
      return call();
    return locked(call);
  }
  std::size_t poll() const {
    return turn([this] { return lane_.poll(); });
  }
  void when_ready(completion c) const {
    turn([&] { lane_.when_ready(c); });
  }

  status wait(flag& f) const {
    if (lock_ == nullptr) [[likely]]
      return lane_.wait(f);
    poll_until([&] { return f.ready(); });
    return f.result().code;
  }
  status wait(counter& ended, std::uint64_t target) const {
    if (lock_ == nullptr) [[likely]]
      return lane_.wait(ended, target);
    poll_until([&] { return ended.count() >= target; });
    return ended.first_failure();
  }

  template <class To, class From>
  status get(To&& into, From from) const {
    if (lock_ == nullptr) return lane_.get(into, from);
    return finish([&](completion c) { return lane_.try_get(into, from, c); });
  }
  status send(rank to, tag t, std::span<const std::byte> data) const {
    if (lock_ == nullptr) return lane_.send(to, t, data);
    return finish([&](completion c) { return lane_.try_send(to, t, data, c); });
  }
  /// After the ends of all that was posted: it has nothing to wait for.
  status flush(rank peer) const {
    return turn([&] { return lane_.flush(peer); });
  }

 private:
  template <class F>
  [[gnu::noinline]] std::invoke_result_t<F> locked(F call) const {
    const std::lock_guard held(*lock_);
    return call();
  }
  /// A blocking form by turns of the lock.
  template <class F>
  status finish(F&& attempt) const {
    flag ended;
    for (;;) {
      const status s = turn([&] { return attempt(ended); });
      if (s == status::posted) return wait(ended);
      if (!is_busy(s)) return s;
      poll();
    }
  }
  template <class F>
  void poll_until(F&& done) const {
    constexpr unsigned between_yields = 16;
    for (unsigned in_vain = 0; !done();)
      if (poll() == 0 && ++in_vain % between_yields == 0) std::this_thread::yield();
  }

  lane& lane_;
  std::mutex* const lock_;
};

/// Posts operations one by one, at most `size` in flight. Slots come in groups; a group's slots are
/// used again when all of its operations have ended, so that a slot's buffer is never lent twice
/// and no flag per operation is needed. One thread.
class window {
 public:
  window(locked_lane on, int size) : lane_(on) {
    const auto wanted = static_cast<std::size_t>(size);
    per_group_ = wanted < groups_.size() ? 1 : wanted / groups_.size();
    used_groups_ = wanted < groups_.size() ? wanted : groups_.size();
  }
  /// How many slots there are.
  [[nodiscard]] std::size_t slots() const noexcept { return per_group_ * used_groups_; }

  /// Calls `attempt(completion, slot)`, in a turn of the lane, until accepted. Throws
  /// std::runtime_error on refusal.
  template <class F>
  [[gnu::always_inline]] void post(F attempt) {  // a call weighs beside an access of 3 ns
    group& g = groups_[current_];
    if (in_group_ == 0) finish(g);
    const status s = try_once(g, attempt);
    if (s != status::done) [[unlikely]]
      settle(g, s, attempt);
  }
  /// Waits until nothing is in flight.
  void drain() {
    for (group& g : groups_) finish(g);
  }

 private:
  struct group {
    counter ended;
    std::uint64_t posted = 0;
    std::uint64_t ended_before = 0;  ///< as many as posted when last waited for
  };

  template <class F>
  [[gnu::always_inline]] status try_once(group& g, F attempt) {
    const std::size_t slot = current_ * per_group_ + in_group_;
    return lane_.turn([attempt, &g, slot] { return attempt(completion(g.ended), slot); });
  }
  /// What is not done yet, or was refused. `attempt` by value, so that the caller's stays in
  /// registers.
  template <class F>
  [[gnu::noinline]] void settle(group& g, status s, F attempt) {
    for (unsigned refusals = 0; s != status::done; ++refusals) {
      if (s == status::posted) return advance(g);
      if (!is_busy(s)) require(s, "post");
      make_room(refusals);
      s = try_once(g, attempt);
    }
  }

  void advance(group& g) {
    ++g.posted;
    if (++in_group_ < per_group_) return;
    in_group_ = 0;
    current_ = (current_ + 1) % used_groups_;
  }
  void finish(group& g) {
    if (g.ended_before == g.posted) return;
    require(lane_.wait(g.ended, g.posted), "complete");
    g.ended_before = g.posted;
  }
  void make_room(unsigned refusals) {
    if (refusals % 64 != 63) {
      lane_.poll();
      return;
    }
    flag room;
    lane_.when_ready(room);
    require(lane_.wait(room), "wait for room");
  }

  locked_lane lane_;
  std::array<group, 4> groups_;
  std::size_t per_group_ = 1;
  std::size_t used_groups_ = 1;
  std::size_t current_ = 0;
  std::size_t in_group_ = 0;
};

/// One operation at a time, by one thread that drives the lane while it waits; or that does not, so
/// that somebody else has to move the message: it then gives its core away between two looks.
class single {
 public:
  explicit single(locked_lane on, bool drives = true) noexcept : lane_(on), drives_(drives) {}

  /// Calls `attempt(completion)`, in a turn of the lane, until accepted, when the one before has
  /// ended. Throws std::runtime_error on refusal.
  template <class F>
  void post(F&& attempt) {
    finish();
    ended_.reset();
    const auto once = [&] { return lane_.turn([&] { return attempt(completion(ended_)); }); };
    status s = once();
    for (; is_busy(s); s = once()) look();
    require(s, "post");
    posted_ = s == status::posted;
  }
  [[nodiscard]] bool is_moving() const { return posted_ && !ended_.ready(); }
  void finish() {
    if (!std::exchange(posted_, false)) return;
    while (!drives_ && !ended_.ready()) look();
    require(drives_ ? lane_.wait(ended_) : ended_.result().code, "complete");
  }
  /// Of the last one, after finish(): how many it moved.
  [[nodiscard]] std::size_t bytes() const { return ended_.result().bytes; }

 private:
  void look() const {
    if (drives_)
      lane_.poll();
    else
      sched_yield();
  }

  locked_lane lane_;
  const bool drives_;
  flag ended_;
  bool posted_ = false;
};

}  // namespace heddle::bench
