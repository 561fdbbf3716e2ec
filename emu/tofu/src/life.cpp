// life.cpp - see life.h. The kernel's side is described in Documentation/locking/robust-futex-ABI.
#include "life.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace tofu {

namespace {

struct keeper {
  life_word* word;
  robust_list_head head;
  robust_list held;
  std::atomic<std::uint32_t> value;
};

void* keep(void* argument) {
  keeper& mine = *static_cast<keeper*>(argument);
  const auto tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  // The list {held} of locks, whose word lies at a fixed distance from the list element.
  mine.head.list.next = &mine.held;
  mine.held.next = &mine.head.list;
  mine.head.futex_offset = static_cast<long>(reinterpret_cast<std::uintptr_t>(mine.word) -
                                             reinterpret_cast<std::uintptr_t>(&mine.held));
  mine.head.list_op_pending = nullptr;
  mine.word->store(tid, std::memory_order_relaxed);  // relaxed: published under the machine's lock
  const long rc = syscall(SYS_set_robust_list, &mine.head, sizeof mine.head);
  mine.value.store(rc == 0 ? tid : ~0u, std::memory_order_release);  // R1 pairs with A1
  for (;;) pause();  // all signals are blocked: for ever
}

}  // namespace

std::uint32_t begin_life(life_word& word) {
  // Never freed: the kernel reads it when the process ends.
  auto* const mine = new keeper{&word, {}, {}, 0};
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int rc = pthread_create(&thread, &attributes, keep, mine);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (rc != 0) return 0;
  std::uint32_t value = 0;
  while ((value = mine->value.load(std::memory_order_acquire)) == 0)
    usleep(10);  // A1 pairs with R1
  return value == ~0u ? 0 : value;
}

void end_life(life_word& word) noexcept {
  // The kernel leaves a word alone that does not name the dying thread.
  word.store(0, std::memory_order_relaxed);  // relaxed: nothing is published by dying
}

}  // namespace tofu
