// SPDX-License-Identifier: BSD-3-Clause
// redirected_calls.h - calls of a function of libc, by any object of this process, go elsewhere
// from some moment on: for what only some programs need, and only once they need it.
//
// Each object (program, library) calls what it does not define through a slot that the dynamic
// loader has filled. Redirecting writes another address into these slots. Not reached: calls inside
// the object that defines the function, pointers to it that were taken before, programs linked
// statically.
#pragma once
#include <cstddef>
#include <span>

namespace heddle::memory {

struct redirected_call {
  const char* name;  ///< of the function; lives as long as the process
  void* to;          ///< what is called instead, for good
};

/// The function that calls of `name` reach unredirected: libc's, or that of a sanitizer or another
/// library that stands in for it. Null: there is none. Any thread.
[[nodiscard]] void* unredirected(const char* name) noexcept;

/// Redirects in all objects that are loaded. Waits for loading that is under way, so the caller
/// must hold no lock that a library's constructor could want. One thread at a time.
void redirect_calls(std::span<const redirected_call> calls);

/// How many objects were ever loaded: when it has grown, there may be new ones. Any thread.
[[nodiscard]] std::size_t objects_ever_loaded() noexcept;

}  // namespace heddle::memory
