// SPDX-License-Identifier: BSD-3-Clause
// window.h - how a thread uses a lane, with a bounded number of operations in flight. Every call
// and poll can be put under one plain lock, which is what published designs of multithreaded
// communication do, to compare with; or a thread never drives its lane, and somebody else must.
#pragma once
#include <fmt/core.h>
#include <heddle/heddle.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace heddle::bench {

/// Throws std::runtime_error naming `what` and the status when it is a failure.
inline void require(status s, const char* what) {
  if (!accepted(s)) throw std::runtime_error(fmt::format("{}: {}", what, name_of(s)));
}

/// How the threads of a benchmark use a lane. With a lock, what waits polls, each time with a turn
/// of the lock, and gives its core away after some polls in vain. Callbacks run under the lock
/// already, and take none. Who does not drive gives its core away between two looks at what it
/// waits for.
class lane_use {
 public:
  /// `lock` is null: the calls are the lane's own.
  explicit lane_use(lane& on, std::mutex* lock = nullptr, bool drives = true) noexcept
      : lane_(on), lock_(lock), drives_(drives) {}

  /// `call()`, which uses the lane and does not wait.
  template <class F>
  [[gnu::always_inline]] auto turn(F call) const {
    if (lock_ == nullptr) [[likely]]
      return call();
    return locked(call);
  }
  std::size_t poll() const {
    if (drives_) return turn([this] { return lane_.poll(); });
    sched_yield();
    return 0;
  }
  void when_ready(const completion& c) const {
    turn([&] { lane_.when_ready(c); });
  }

  status wait(flag& f) const {
    if (waits_itself()) [[likely]]
      return lane_.wait(f);
    poll_until([&] { return f.ready(); });
    return f.result().code;
  }
  status wait(counter& ended, std::uint64_t target) const {
    if (waits_itself()) [[likely]]
      return lane_.wait(ended, target);
    poll_until([&] { return ended.count() >= target; });
    return ended.first_failure();
  }

  template <class To, class From>
  status get(To&& into, From from) const {
    if (lock_ == nullptr) return lane_.get(into, from);
    return finish([&](const completion& c) { return lane_.try_get(into, from, c); });
  }
  status fetch_add(remote_ptr<std::uint64_t> at, std::uint64_t& old) const {
    if (lock_ == nullptr) return lane_.fetch_add(at, 1, old);
    return finish(
        [&](const completion& c) { return lane_.try_fetch_add(at, std::uint64_t{1}, old, c); });
  }
  status send(rank to, tag t, std::span<const std::byte> data) const {
    if (lock_ == nullptr) return lane_.send(to, t, data);
    return finish([&](const completion& c) { return lane_.try_send(to, t, data, c); });
  }
  /// After the ends of all that was posted: it has nothing to wait for.
  status flush(rank peer) const {
    return turn([&] { return lane_.flush(peer); });
  }

 private:
  [[nodiscard]] bool waits_itself() const noexcept { return lock_ == nullptr && drives_; }
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
      if (poll() == 0 && ++in_vain % between_yields == 0) sched_yield();
  }

  lane& lane_;
  std::mutex* const lock_;
  const bool drives_;
};

/// Posts operations one by one, at most `size` in flight. Slots come in groups; a group's slots are
/// used again when all of its operations have ended, so that a slot's buffer is never lent twice
/// and no flag per operation is needed. One thread.
class window {
 public:
  window(lane_use on, int size)
      : lane_(on),
        used_groups_(std::min(static_cast<std::size_t>(size), groups_.size())),
        per_group_(static_cast<std::size_t>(size) / used_groups_) {}
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

  const lane_use lane_;
  std::array<group, 4> groups_;
  const std::size_t used_groups_, per_group_;
  std::size_t current_ = 0;
  std::size_t in_group_ = 0;
};

}  // namespace heddle::bench
