// SPDX-License-Identifier: BSD-3-Clause
// life.cpp - see life.h. The kernel's side is described in Documentation/locking/robust-futex-ABI.
//
// The thread is the kernel's alone: neither the C library nor a sanitizer knows of it, so that a
// program that uses the device counts as single-threaded for as long as it is, above all when it
// forks. It shares the thread-local memory of the thread that started it and so must not touch any:
// this file is compiled without sanitizers and stack protector, and the thread only makes system
// calls that succeed. (Where one is not there, the thread that started it waits meanwhile, and
// finds errno changed.)
#include "life.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

#include "words.h"

// glibc's clone by the name that sanitizers do not take for a fork. NOLINTNEXTLINE
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace host {

namespace {

struct keeper {
  life_word* word;
  robust_list_head head;
  robust_list held;
  std::atomic<std::uint32_t> value;
  bool marked;  // by the kernel, when the process ends; constant once value is set
};

int keep(void* argument) {
  keeper& mine = *static_cast<keeper*>(argument);
  const auto tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  // The list {held} of locks, whose word lies at a fixed distance from the list element.
  mine.head.list.next = &mine.held;
  mine.held.next = &mine.head.list;
  mine.head.futex_offset = static_cast<long>(reinterpret_cast<std::uintptr_t>(mine.word) -
                                             reinterpret_cast<std::uintptr_t>(&mine.held));
  mine.head.list_op_pending = nullptr;
  mine.word->store(tid, std::memory_order_relaxed);  // relaxed: published under the machine's lock
  mine.marked = syscall(SYS_set_robust_list, &mine.head, sizeof mine.head) == 0;
  mine.value.store(tid, std::memory_order_release);  // R1 pairs with A1
  for (;;)
    syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);  // all signals are blocked: for ever
}

/// Starts keep(); neither it nor its stack, which also holds `keeper`, is ever freed.
keeper* start_keeper(life_word& word) {
  constexpr std::size_t bytes = 65536;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const mine = new (memory) keeper{&word, {}, {}, 0, false};
  constexpr int as_thread =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const int rc = __clone(keep, static_cast<std::byte*>(memory) + bytes, as_thread, mine);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return rc > 0 ? mine : nullptr;
}

}  // namespace

std::uint32_t begin_life(life_word& word) {
  const keeper* const mine = start_keeper(word);
  if (mine == nullptr) return 0;
  std::uint32_t value = 0;
  while ((value = mine->value.load(std::memory_order_acquire)) == 0) sched_yield();  // A1 to R1
  if (!mine->marked)
    say("this system keeps no robust lists (qemu?): nobody will notice if this process is killed");
  return value;
}

void end_life(life_word& word) noexcept {
  // The kernel leaves a word alone that does not name the dying thread.
  word.store(0, std::memory_order_relaxed);  // relaxed: nothing is published by dying
}

}  // namespace host
