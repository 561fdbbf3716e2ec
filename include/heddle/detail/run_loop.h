// SPDX-License-Identifier: BSD-3-Clause
// run_loop.h - resumes coroutines one after another on a thread, never one inside another.
//
// A coroutine that resumes another by a plain call uses stack for as long as that one runs, and
// compilers turn such calls into jumps only when optimizing, never under thread sanitizer. Here
// whoever wants something resumed leaves a note in a list, and the outermost caller works it off.
#pragma once
#include <utility>

namespace heddle::detail {

/// Something to run, kept in the coroutine frame that it is about: no allocation.
struct step {
  step* next = nullptr;
  void (*run)(step& self) noexcept = nullptr;  ///< may destroy `self`
};

class run_loop {
 public:
  /// Runs `first` once the step that this thread is in has returned; at once when it is in none.
  /// Not inlined, so that nothing of it can end up in the frame of a coroutine being suspended.
  [[gnu::noinline]] static void run_soon(step& first) noexcept {
    if (current_ != nullptr) {
      current_->append(first);
    } else {
      run_now(first);
    }
  }

  /// Runs `first` and whatever it causes on this thread, then returns.
  [[gnu::noinline]] static void run_now(step& first) noexcept {
    run_loop loop;
    run_loop* const outer = std::exchange(current_, &loop);
    loop.append(first);
    while (step* const now = loop.take()) now->run(*now);
    current_ = outer;
  }

 private:
  void append(step& last) noexcept {
    last.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &last;
    last_ = &last;
  }
  step* take() noexcept {
    step* const taken = first_;
    if (taken != nullptr) first_ = taken->next;
    if (first_ == nullptr) last_ = nullptr;
    return taken;
  }

  // NOLINTNEXTLINE(readability-identifier-naming): a member like the others, one per thread
  static inline constinit thread_local run_loop* current_ = nullptr;
  step* first_ = nullptr;
  step* last_ = nullptr;
};

}  // namespace heddle::detail
