// SPDX-License-Identifier: BSD-3-Clause
// domain.cpp - see domain.h.
#include "domain.h"

#include <unistd.h>

#include <cstdlib>

#include "host/words.h"

namespace hca {

void td_call::enter(const char* what) noexcept {
  // Asked once: a system call in each call would cost what no adapter costs. After a fork it is the
  // parent's number, which no other thread here has either.
  constinit thread_local int self = 0;
  if (self == 0) self = gettid();
  int nobody = 0;
  // A1 pairs with R1. A failed exchange ends the program, so relaxed.
  if (td_->inside.compare_exchange_strong(nobody, self, std::memory_order_acquire,
                                          std::memory_order_relaxed))
    return;
  host::say(
      "threads %d and %d use a thread domain at once, the second one in %s: give each thread "
      "a domain of its own, or a lock around their calls",
      nobody, self, what);
  std::abort();
}

}  // namespace hca
