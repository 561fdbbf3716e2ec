// SPDX-License-Identifier: BSD-3-Clause
#include "sync/misuse.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace heddle::sync {
void end_for_misuse(place where, std::string_view what, std::string_view cure) noexcept {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  std::fputs("heddle: ", stderr);
  if (where.rank >= 0) std::fprintf(stderr, "rank %d, ", where.rank);
  if (where.lane >= 0) std::fprintf(stderr, "lane %d, ", where.lane);
  std::fprintf(stderr, "thread %d (%s): %.*s: %.*s\n", static_cast<int>(gettid()), name.data(),
               static_cast<int>(what.size()), what.data(), static_cast<int>(cure.size()),
               cure.data());
  std::abort();
}

}  // namespace heddle::sync
