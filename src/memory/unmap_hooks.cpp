// SPDX-License-Identifier: BSD-3-Clause
#include "memory/unmap_hooks.h"

#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <limits>

#include "memory/redirected_calls.h"
#include "memory/unmap_monitor.h"
#include "sync/release_acquire.h"

namespace heddle::memory {
namespace {

/// The function that is called without ours. Set before any call is redirected.
template <class F>
class next_function {
 public:
  void find(const char* name) noexcept { found_.set(reinterpret_cast<F*>(unredirected(name))); }
  template <class... Arguments>
  auto operator()(Arguments... arguments) const noexcept {
    return found_.get()(arguments...);
  }

 private:
  sync::release_acquire<F*> found_{nullptr};
};

constinit next_function<int(void*, std::size_t)> next_munmap;
constinit next_function<void*(void*, std::size_t, int, int, int, off_t)> next_mmap;
constinit next_function<void*(void*, std::size_t, std::size_t, int, void*)> next_mremap;
constinit next_function<int(void*, std::size_t, int)> next_madvise;
constinit next_function<int(const void*)> next_shmdt;
constinit next_function<void*(int, const void*, int)> next_shmat;
constinit next_function<int(void*)> next_brk;
constinit next_function<void*(std::intptr_t)> next_sbrk;

constexpr auto everything = std::numeric_limits<std::uintptr_t>::max();

std::uintptr_t address(const void* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at);
}

/// Memory that changes while this exists. The kernel need not tell of it, too, and hold up the
/// call: if anything was kept of it, it is not watched any more. Leaves errno alone.
class change {
 public:
  enum class kind : std::uint8_t {
    plain,
    moves,  // never watched: the kernel moves only what it watches as a whole, or not at all
  };
  change(std::uintptr_t from, std::uintptr_t to, kind how = kind::plain) noexcept
      : monitor_(unmap_monitor::running()) {
    if (monitor_ == nullptr) return;
    const int before = errno;
    if (monitor_->begin(from, to) || how == kind::moves) monitor_->unwatch(from, to);
    errno = before;
  }
  ~change() {
    if (monitor_ != nullptr) monitor_->end();
  }
  change(const change&) = delete;
  change& operator=(const change&) = delete;

 private:
  unmap_monitor* monitor_ = nullptr;
};

/// Where `bytes` at `at` end, in whole pages as the kernel rounds them.
std::uintptr_t end_of(const void* at, std::size_t bytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  const std::uintptr_t from = address(at);
  return bytes < everything - from - page ? (from + bytes + page - 1) & ~(page - 1) : everything;
}

bool takes_pages_away(int advice) noexcept {
  constexpr int dontneed_locked = 24;  // newer than the oldest headers we build with
  return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE ||
         advice == dontneed_locked;
}

// --- what is called instead --------------------------------------------------------------

int hooked_munmap(void* at, std::size_t bytes) noexcept {
  const change during(address(at), end_of(at, bytes));
  return next_munmap(at, bytes);
}

void* hooked_mmap(void* at, std::size_t bytes, int protection, int flags, int file,
                  off_t offset) noexcept {
  if ((flags & MAP_FIXED) == 0) return next_mmap(at, bytes, protection, flags, file, offset);
  const change during(address(at), end_of(at, bytes));
  return next_mmap(at, bytes, protection, flags, file, offset);
}

void* hooked_mremap(void* at, std::size_t bytes, std::size_t wanted, int flags, ...) noexcept {
  void* to = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    va_list more;
    va_start(more, flags);
    to = va_arg(more, void*);
    va_end(more);
  }
  // What stays where it is counts as changed, too: nobody knows before.
  const change from_here(address(at), end_of(at, bytes), change::kind::moves);
  if (to == nullptr) return next_mremap(at, bytes, wanted, flags, to);
  const change to_there(address(to), end_of(to, wanted));
  return next_mremap(at, bytes, wanted, flags, to);
}

int hooked_madvise(void* at, std::size_t bytes, int advice) noexcept {
  if (!takes_pages_away(advice)) return next_madvise(at, bytes, advice);
  const change during(address(at), end_of(at, bytes));
  return next_madvise(at, bytes, advice);
}

// The kernel tells nobody of these two (Linux 6.18), and the size of a segment is not to be had
// from its address: everything behind it counts as changed.

int hooked_shmdt(const void* at) noexcept {
  const change during(address(at), everything);
  return next_shmdt(at);
}

void* hooked_shmat(int segment, const void* at, int flags) noexcept {
  if ((flags & SHM_REMAP) == 0) return next_shmat(segment, at, flags);
  const change during(address(at), everything);
  return next_shmat(segment, at, flags);
}

// Libc keeps its own note of where the heap ends, so only libc can move it.

int hooked_brk(void* end) noexcept {
  const change during(address(end), address(next_sbrk(0)));
  return next_brk(end);
}

void* hooked_sbrk(std::intptr_t more) noexcept {
  if (more >= 0) return next_sbrk(more);
  const std::uintptr_t end = address(next_sbrk(0));
  const change during(end + static_cast<std::uintptr_t>(more), end);
  return next_sbrk(more);
}

template <class F>
void* code(F* function) noexcept {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void hook_memory_calls() {
  static const std::array<redirected_call, 9> calls = [] {
    next_munmap.find("munmap");
    next_mmap.find("mmap");
    next_mremap.find("mremap");
    next_madvise.find("madvise");
    next_shmdt.find("shmdt");
    next_shmat.find("shmat");
    next_brk.find("brk");
    next_sbrk.find("sbrk");
    return std::array<redirected_call, 9>{{{"munmap", code(&hooked_munmap)},
                                           {"mmap", code(&hooked_mmap)},
                                           {"mmap64", code(&hooked_mmap)},
                                           {"mremap", code(&hooked_mremap)},
                                           {"madvise", code(&hooked_madvise)},
                                           {"shmdt", code(&hooked_shmdt)},
                                           {"shmat", code(&hooked_shmat)},
                                           {"brk", code(&hooked_brk)},
                                           {"sbrk", code(&hooked_sbrk)}}};
  }();
  redirect_calls(calls);
}

}  // namespace heddle::memory
