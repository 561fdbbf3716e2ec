// SPDX-License-Identifier: BSD-3-Clause
// task.h - a coroutine type for code that awaits, and how plain code starts one.
//
// * A task does nothing until it is awaited or spawned. Whoever holds it owns its frame.
// * After an await that had to wait, a task goes on on whichever thread drives the lane, inside
//   a completion: so the rules of completion::deliver hold for it. It must not block (await
//   instead), and an exception that leaves it ends the program by std::terminate.
// * However many awaits follow each other, and however deep tasks await tasks, the stack does not
//   grow (see detail/run_loop.h).
// * One frame is allocated per task, none per await.
#pragma once
#include <heddle/completion.h>
#include <heddle/detail/join.h>
#include <heddle/detail/run_loop.h>
#include <heddle/status.h>

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <span>
#include <utility>

namespace heddle {

template <class T>
class task;

namespace detail {

template <class T>
class promise;

/// What all tasks' promises share. A step, so that starting and resuming need no memory.
class promise_base : public step {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept { return at_end{}; }
  void unhandled_exception() noexcept { std::terminate(); }

  void awaited_by(std::coroutine_handle<> waiter, join* group = nullptr) noexcept {
    waiter_ = waiter;
    group_ = group;
  }
  void ends_with(const completion& ended) noexcept { ended_ = ended; }

 private:
  struct at_end {
    bool await_ready() noexcept { return false; }
    template <class T>
    [[gnu::noinline]] void await_suspend(std::coroutine_handle<promise<T>> self) noexcept {
      self.promise().finish(self);
    }
    void await_resume() noexcept {}
  };

  /// The frame may be gone when this returns, and `this` is in it.
  template <class T>
  void finish(std::coroutine_handle<promise<T>> self) noexcept {
    if (waiter_ == nullptr) {
      const completion ended = ended_;
      const outcome what = self.promise().as_outcome();
      self.destroy();
      ended(what);
    } else if (group_ == nullptr || group_->arrive()) {
      run = [](step& s) noexcept { static_cast<promise_base&>(s).waiter_.resume(); };
      run_loop::run_soon(*this);
    }
  }

  std::coroutine_handle<> waiter_;  ///< nobody: spawned, and then `ended_` counts
  join* group_ = nullptr;           ///< set: waits for others too
  completion ended_;
};

template <class T>
class promise : public promise_base {
 public:
  task<T> get_return_object() noexcept;
  template <std::convertible_to<T> From>
  void return_value(From&& value) {
    value_.emplace(std::forward<From>(value));
  }
  T take() noexcept { return *std::move(value_); }
  outcome as_outcome() const noexcept {
    if constexpr (std::same_as<T, status>) return {.code = *value_};
    if constexpr (std::same_as<T, outcome>) return *value_;
    return {};
  }

 private:
  std::optional<T> value_;
};

template <>
class promise<void> : public promise_base {
 public:
  task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void take() noexcept {}
  outcome as_outcome() const noexcept { return {}; }
};

struct task_access;

}  // namespace detail

/// A coroutine that gives a T in the end: `T x = co_await some_task();`
///
/// Movable; one owner. Destroy it before it was started or after it has ended.
template <class T = void>
class [[nodiscard]] task {
 public:
  using promise_type = detail::promise<T>;

  task(task&& other) noexcept : self_(std::exchange(other.self_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(self_, other.self_);
    return *this;
  }
  ~task() {
    if (self_) self_.destroy();
  }

  /// Starts it; the awaiting coroutine goes on when it has ended. Once.
  auto operator co_await() && noexcept { return awaiter{self_}; }

 private:
  friend promise_type;
  friend detail::task_access;
  using handle = std::coroutine_handle<promise_type>;
  explicit task(handle self) noexcept : self_(self) {
    self_.promise().run = [](detail::step& s) noexcept {
      handle::from_promise(static_cast<promise_type&>(s)).resume();
    };
  }

  struct awaiter {
    handle child;
    bool await_ready() const noexcept { return false; }
    [[gnu::noinline]] void await_suspend(std::coroutine_handle<> waiter) noexcept {
      child.promise().awaited_by(waiter);
      detail::run_loop::run_soon(child.promise());
    }
    T await_resume() const noexcept { return child.promise().take(); }
  };

  handle self_;
};

namespace detail {

template <class T>
task<T> promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<promise>::from_promise(*this));
}
inline task<void> promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<promise>::from_promise(*this));
}

struct task_access {
  template <class T>
  static auto& promise_of(task<T>& t) noexcept {
    return t.self_.promise();
  }
  template <class T>
  static void release(task<T>& t) noexcept {
    t.self_ = nullptr;
  }
};

}  // namespace detail

/// Starts `work` here and now, from any code; its frame frees itself at the end. `ended` is
/// delivered once when it has ended, possibly before spawn returns, with what it returned: a
/// status as outcome::code, an outcome as it is, void as `done`.
template <class T>
requires std::same_as<T, void> || std::same_as<T, status> || std::same_as<T, outcome>
void spawn(task<T> work, completion ended = {}) noexcept {
  auto& promise = detail::task_access::promise_of(work);
  promise.ends_with(ended);
  detail::task_access::release(work);
  detail::run_loop::run_now(promise);
}

namespace detail {

class all_tasks {
 public:
  explicit all_tasks(std::span<task<status>> work) noexcept
      : work_(work), running_(work.size() + 1) {}
  bool await_ready() const noexcept { return false; }
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> waiter) noexcept {
    for (task<status>& each : work_) {
      promise<status>& started = task_access::promise_of(each);
      started.awaited_by(waiter, &running_);
      run_loop::run_soon(started);
    }
    return !running_.arrive();  // this call's own share, which kept `this` alive until here
  }
  status await_resume() const noexcept {
    status first_failure = status::done;
    for (task<status>& each : work_) {
      const status ended = task_access::promise_of(each).take();
      if (first_failure == status::done) first_failure = ended;
    }
    return first_failure;
  }

 private:
  std::span<task<status>> work_;
  join running_;
};

}  // namespace detail

/// Awaits all of `work`, started in order: `done`, or the status of the first one, in their order,
/// that failed. The tasks run at the same time, so two of them may be on two threads at once.
[[nodiscard]] inline auto when_all(std::span<task<status>> work) noexcept {
  return detail::all_tasks(work);
}

}  // namespace heddle
