// SPDX-License-Identifier: BSD-3-Clause
// counted_memory.cpp - this program's operators new and delete, which also serve libheddle.
#include "info/counted_memory.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace heddle::tools {
namespace {

// Relaxed: numbers for people, read when the threads that change them are quiet.
constinit bool counting = false;
constinit std::int64_t now = 0;
constinit std::int64_t most = 0;
constinit std::int64_t blocks = 0;
constinit std::int64_t in_blocks = 0;
constinit thread_local int uncounted = 0;

/// Of one piece: more than 0 when it is taken.
void add(std::int64_t bytes) noexcept {
  if (bytes >= large_block || bytes <= -large_block) {
    std::atomic_ref(blocks).fetch_add(bytes > 0 ? 1 : -1, std::memory_order_relaxed);
    std::atomic_ref(in_blocks).fetch_add(bytes, std::memory_order_relaxed);
  }
  const std::int64_t sum = std::atomic_ref(now).fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const std::atomic_ref highest(most);
  std::int64_t known = highest.load(std::memory_order_relaxed);
  while (sum > known && !highest.compare_exchange_weak(known, sum, std::memory_order_relaxed)) {
  }
}

bool counts() noexcept {
  return std::atomic_ref(counting).load(std::memory_order_relaxed) && uncounted == 0;
}

void* taken(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  if (counts()) [[unlikely]]
    add(static_cast<std::int64_t>(malloc_usable_size(memory)));
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory != nullptr && counts()) [[unlikely]]
    add(-static_cast<std::int64_t>(malloc_usable_size(memory)));
  std::free(memory);
}

}  // namespace

void begin_memory_count() noexcept {
  now = most = blocks = in_blocks = 0;
  counting = true;
}

memory_count count_memory() noexcept {
  return {std::atomic_ref(now).load(std::memory_order_relaxed),
          std::atomic_ref(most).load(std::memory_order_relaxed),
          std::atomic_ref(blocks).load(std::memory_order_relaxed),
          std::atomic_ref(in_blocks).load(std::memory_order_relaxed)};
}

uncounted_memory::uncounted_memory() noexcept {
  ++uncounted;
}

uncounted_memory::~uncounted_memory() {
  --uncounted;
}

}  // namespace heddle::tools

// The forms for arrays, and those that do not throw, end in these.
void* operator new(std::size_t bytes) {
  return heddle::tools::taken(std::malloc(bytes != 0 ? bytes : 1));
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return heddle::tools::taken(std::aligned_alloc(step, (bytes + step - 1) / step * step));
}

void operator delete(void* memory) noexcept {
  heddle::tools::give_back(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  heddle::tools::give_back(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
  heddle::tools::give_back(memory);
}

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  heddle::tools::give_back(memory);
}
