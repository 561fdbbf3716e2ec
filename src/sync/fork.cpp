// SPDX-License-Identifier: BSD-3-Clause
#include "sync/fork.h"

#include <pthread.h>

#include "base/error.h"

namespace heddle::sync {
namespace detail {

constinit std::atomic<std::uint8_t> specials{0};

}  // namespace detail

void watch_forks() noexcept {
  static const int watching = pthread_atfork(nullptr, nullptr, [] { becomes(special::in_child); });
  static_cast<void>(watching);  // without memory for it, forks go unnoticed as before
}

void refuse_in_child(const char* what) {
  if (forked())
    fail("{}: this process was forked by one that uses Heddle; exec a program in it first", what);
}

}  // namespace heddle::sync
