// SPDX-License-Identifier: BSD-3-Clause
// locked_lane.h - a lane whose every call and poll can be put under one plain lock: what published
// designs of multithreaded communication do, to compare with.
#pragma once
#include <heddle/heddle.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <type_traits>

namespace heddle::bench {

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

}  // namespace heddle::bench
