// SPDX-License-Identifier: BSD-3-Clause
// of_this_thread.h - objects that each thread has one of, and that outlive the others of its own.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace heddle {

/// The calling thread's T, made when it is first asked for. A world of static storage, or one that
/// atexit() ends, ends behind all thread_local objects of the main thread: whoever asks then gets a
/// new one, whose own memory is not given back.
template <class T>
T& of_this_thread() noexcept {
  alignas(T) static thread_local std::byte place[sizeof(T)];
  static thread_local T* made = nullptr;
  struct ending {
    ~ending() { std::destroy_at(std::exchange(made, nullptr)); }
  };
  if (made == nullptr) {
    static thread_local const ending at_thread_end;
    made = new (place) T;
  }
  return *made;
}

}  // namespace heddle
