// SPDX-License-Identifier: BSD-3-Clause
// completion.h - how the end of an operation reaches you: a record, and the adapters on it.
#pragma once
#include <heddle/detail/signal.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace heddle {

/// What is known at the end of an operation.
struct outcome {
  status code = status::done;  ///< done, or why it failed
  /// Of a receive: the lane that the message was sent from, so that an answer to {peer, lane} gets
  /// there. Otherwise same_lane.
  std::int16_t lane = same_lane;
  rank peer = any_source;  ///< the other side; a receive learns its source here
  heddle::tag tag = 0;     ///< a receive learns its tag here; else 0
  std::size_t bytes = 0;   ///< bytes moved
};

/// What is to be done when an operation ends. A value of three words; the default does nothing.
///
/// `deliver(owner, cookie, outcome)` runs exactly once for an operation answered `posted`, and
/// never for one answered otherwise. It runs on whichever thread drives the lane, with no lock of
/// Heddle's held; it may post and cancel, must not block, and must not throw.
struct completion {
  using function = void (*)(void* owner, std::uint64_t cookie, const outcome& what) noexcept;
  function deliver = nullptr;
  void* owner = nullptr;
  std::uint64_t cookie = 0;

  void operator()(const outcome& what) const noexcept {
    if (deliver != nullptr) deliver(owner, cookie, what);
  }
  friend bool operator==(const completion&, const completion&) = default;
};

class flag;

namespace detail {
/// For Heddle itself, under HEDDLE_CHECKS: what an operation's end will raise, told beforehand.
class expected_ending {
 public:
  explicit expected_ending(const completion& c) noexcept;
  /// It is a flag that was not free.
  [[nodiscard]] bool is_taken() const noexcept { return taken_; }
  /// The operation was not posted.
  void take_back() const noexcept {
    if (raised_ != nullptr) raised_->expect(-1);
  }

 private:
  signal* raised_ = nullptr;
  bool taken_ = false;
};
/// For Heddle itself: the completion of a blocking form, whose thread will wait at once.
struct awaited {
  /// Of the calling thread.
  [[nodiscard]] static completion by(flag& f) noexcept;
  /// What the thread waits for; null: the completion is not such a one.
  [[nodiscard]] static const signal* in(const completion& c) noexcept;
  /// Ends it, where `c` is such a one and the calling thread's, which is known by its `batch`: no
  /// other thread looks at the flag, so this may be done wherever that thread is. False: it is not,
  /// or about to sleep.
  [[nodiscard]] static inline bool end_here(const completion& c, const void* batch,
                                            const outcome& what) noexcept;
};
/// For Heddle itself: delivering it raises a flag or a counter, and runs no program's code.
[[nodiscard]] bool raises_only(const completion& c) noexcept;
/// For Heddle itself: several endings in a row that go to one adapter which merely counts.
struct many_endings {
  [[nodiscard]] static bool possible(const completion& c) noexcept;
  /// Only where possible(c): as `n` deliveries, the first failure among which is `first_failure`.
  static void deliver(const completion& c, std::uint64_t n, status first_failure) noexcept;
};
}  // namespace detail

/// Becomes ready once. Wait with lane::wait(flag), or look with ready().
///
/// Must outlive its operation. Everything the operation wrote is visible to whoever saw ready().
/// One operation at a time; reset() before the next. HEDDLE_CHECKS finds what breaks these rules,
/// of all adapters but `callback`.
class flag {
 public:
  flag() = default;
  ~flag() {
    if (signal_.expecting()) [[unlikely]]
      detail::end_in_flight("a flag");
  }
  flag(const flag&) = delete;
  flag& operator=(const flag&) = delete;

  operator completion() noexcept { return {&flag::deliver, this, 0}; }  // NOLINT: adapters convert
  [[nodiscard]] bool ready() const noexcept { return signal_.count() != 0; }
  /// Only after ready().
  [[nodiscard]] const outcome& result() const noexcept { return outcome_; }
  /// Only while no operation holds this flag.
  void reset() noexcept {
    if (signal_.expecting()) [[unlikely]]
      detail::end_in_flight("a flag");
    signal_.reset();
  }

 private:
  friend class lane;
  friend detail::expected_ending;
  friend detail::awaited;
  friend bool detail::raises_only(const completion& c) noexcept;
  static void deliver(void* owner, std::uint64_t, const outcome& what) noexcept;
  outcome outcome_;
  detail::signal signal_;
};

inline bool detail::awaited::end_here(const completion& c, const void* batch,
                                      const outcome& what) noexcept {
  if (c.cookie != reinterpret_cast<std::uintptr_t>(batch) || c.deliver != &flag::deliver)
    return false;
  flag& f = *static_cast<flag*>(c.owner);
  f.outcome_ = what;
  return f.signal_.raise_alone();
}

/// Counts operations that ended, and remembers the first failure.
///
/// Any number of operations at a time, also from several lanes. Must outlive them all.
class counter {
 public:
  counter() = default;
  ~counter() {
    if (signal_.expecting()) [[unlikely]]
      detail::end_in_flight("a counter");
  }
  counter(const counter&) = delete;
  counter& operator=(const counter&) = delete;

  operator completion() noexcept { return {&counter::deliver, this, 0}; }  // NOLINT
  /// How many have ended, failed ones included.
  [[nodiscard]] std::uint64_t count() const noexcept { return signal_.count(); }
  /// `done`, or the first failure among those counted.
  [[nodiscard]] status first_failure() const noexcept { return signal_.first_failure(); }
  /// Counts the answer of an operation that was given this counter: `done` and refusals now, since
  /// nothing will be delivered; posted when it ends; busy not at all. Returns the answer. So
  /// `ended.track(l.try_put(data, to, ended))` counts once in any case but busy.
  status track(status answer) noexcept {
    if (answer != status::posted && !is_busy(answer)) signal_.raise(answer);
    return answer;
  }
  /// Only while no operation holds this counter.
  void reset() noexcept {
    if (signal_.expecting()) [[unlikely]]
      detail::end_in_flight("a counter");
    signal_.reset();
  }

 private:
  friend class lane;
  friend detail::expected_ending;
  friend bool detail::raises_only(const completion& c) noexcept;
  friend detail::many_endings;
  static void deliver(void* owner, std::uint64_t, const outcome& what) noexcept;
  detail::signal signal_;
};

/// Counts operations that ended in a descriptor, for a program that sleeps in a loop of its own:
/// poll, epoll, select, asio. The descriptor is readable while there are endings to take.
///
/// Any number of operations at a time, also from several lanes. Must outlive them all.
/// Each ending costs a system call; those that are delivered together share one.
class event_descriptor {
 public:
  /// Throws error when the process has no descriptor left (ulimit -n).
  event_descriptor();
  ~event_descriptor();
  event_descriptor(const event_descriptor&) = delete;
  event_descriptor& operator=(const event_descriptor&) = delete;

  operator completion() noexcept { return {&event_descriptor::deliver, this, 0}; }  // NOLINT
  /// The same for the whole life; not blocking, not inherited by exec. It stays this object's,
  /// which closes it: watch it for reading, but give no descriptor but a dup() to what closes its
  /// own.
  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// How many have ended since the last take, failed ones included; 0: none. Never blocks. Any
  /// thread; each ending is taken once. Everything those operations wrote is visible to the taker.
  [[nodiscard]] std::uint64_t take() noexcept;
  /// `done`, or the first failure among those taken.
  [[nodiscard]] status first_failure() const noexcept { return signal_.first_failure(); }

 private:
  friend detail::many_endings;
  friend detail::expected_ending;
  static void deliver(void* owner, std::uint64_t, const outcome& what) noexcept;
  void raise(status first_failure, std::uint64_t n) noexcept;
  const int fd_;
  detail::signal signal_;
};

/// Calls `function(outcome)` when the operation ends. Must outlive the operation.
/// The rules of completion::deliver hold: no blocking call, no throw; reposting is fine.
template <class F>
class callback {
 public:
  explicit callback(F function) : function_(std::move(function)) {}
  callback(const callback&) = delete;
  callback& operator=(const callback&) = delete;

  operator completion() noexcept {  // NOLINT: adapters convert
    return {[](void* owner, std::uint64_t, const outcome& what) noexcept {
              static_cast<callback*>(owner)->function_(what);
            },
            this, 0};
  }

 private:
  F function_;
};

/// Collects finished operations; any thread takes them out, oldest first.
///
/// Holds `capacity` entries without allocating; more are kept too, at the price of an allocation.
class completion_queue {
 public:
  struct entry {
    std::uint64_t cookie = 0;
    outcome what;
  };
  explicit completion_queue(std::size_t capacity);
  ~completion_queue();
  completion_queue(const completion_queue&) = delete;
  completion_queue& operator=(const completion_queue&) = delete;

  /// A completion that puts {cookie, outcome} here.
  [[nodiscard]] completion with(std::uint64_t cookie) noexcept {
    return {&completion_queue::deliver, this, cookie};
  }
  /// False: empty, `out` unchanged. Any thread.
  [[nodiscard]] bool try_pop(entry& out) noexcept;
  /// How many entries were ever delivered; lane::wait(queue, n) waits for it.
  [[nodiscard]] std::uint64_t delivered() const noexcept { return signal_.count(); }

 private:
  friend class lane;
  friend detail::expected_ending;
  static void deliver(void* owner, std::uint64_t cookie, const outcome& what) noexcept;
  struct state;
  std::unique_ptr<state> state_;
  detail::signal signal_;
};

}  // namespace heddle
