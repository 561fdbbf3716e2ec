// domain.cpp - see domain.h.
#include "domain.h"

#include <unistd.h>

#include <cstdlib>

#include "host/words.h"

namespace hca {

void td_call::enter(const char* what) noexcept {
  int nobody = 0;
  // A1 pairs with R1. A failed exchange ends the program, so relaxed.
  if (td_->inside.compare_exchange_strong(nobody, gettid(), std::memory_order_acquire,
                                          std::memory_order_relaxed))
    return;
  host::say(
      "threads %d and %d use a thread domain at once, the second one in %s: give each thread "
      "a domain of its own, or a lock around their calls",
      nobody, gettid(), what);
  std::abort();
}

}  // namespace hca
