// SPDX-License-Identifier: BSD-3-Clause
// late_module.cpp - a library that is loaded while the program runs, and calls libc.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

extern "C" [[gnu::visibility("default")]] pid_t parent_asked_late() {
  return getppid();
}

/// Unmaps and maps again: other pages are at the same address then.
extern "C" [[gnu::visibility("default")]] int replace_late(void* at, std::size_t bytes) {
  if (munmap(at, bytes) != 0) return -1;
  return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                 at
             ? 0
             : -1;
}
