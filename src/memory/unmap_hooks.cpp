// unmap_hooks.cpp - munmap() and the like, as programs and libraries call them: tells the monitor,
// then does what libc does.
//
// They are found before libc's because programs are linked with this library first. Until there is
// a monitor, a call costs two loads more. Whoever else stands in for these functions, be it a
// sanitizer before us or another library after us, goes on being called.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <limits>

#include "memory/unmap_monitor.h"
#include "sync/published.h"

namespace heddle::memory {
namespace {

/// The function that would be called without ours. Null until this library is set up.
template <class F>
class next_function {
 public:
  void find(const char* name) noexcept { found_.set(reinterpret_cast<F*>(dlsym(RTLD_NEXT, name))); }
  [[nodiscard]] F* get() const noexcept { return found_.get(); }

 private:
  sync::published<F*> found_{nullptr};
};

constinit next_function<int(void*, std::size_t)> next_munmap;
constinit next_function<void*(void*, std::size_t, int, int, int, off_t)> next_mmap;
constinit next_function<void*(void*, std::size_t, std::size_t, int, ...)> next_mremap;
constinit next_function<int(void*, std::size_t, int)> next_madvise;
constinit next_function<int(const void*)> next_shmdt;
constinit next_function<void*(int, const void*, int)> next_shmat;
constinit next_function<int(void*)> next_brk;
constinit next_function<void*(std::intptr_t)> next_sbrk;

[[gnu::constructor]] void find_next_functions() {
  next_munmap.find("munmap");
  next_mmap.find("mmap");
  next_mremap.find("mremap");
  next_madvise.find("madvise");
  next_shmdt.find("shmdt");
  next_shmat.find("shmat");
  next_brk.find("brk");
  next_sbrk.find("sbrk");
}

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

/// Both are system calls' results: an address, or -1.
void* as_pointer(long result) noexcept {
  return reinterpret_cast<void*>(result);  // NOLINT(performance-no-int-to-ptr)
}

void* map(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  if (auto* const next = next_mmap.get(); next != nullptr)
    return next(at, bytes, protection, flags, file, offset);
  return as_pointer(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}

void* remap(void* at, std::size_t bytes, std::size_t wanted, int flags, void* to) noexcept {
  if (auto* const next = next_mremap.get(); next != nullptr)
    return next(at, bytes, wanted, flags, to);
  return as_pointer(syscall(SYS_mremap, at, bytes, wanted, flags, to));
}

}  // namespace
}  // namespace heddle::memory

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): they are libc's names

using namespace heddle::memory;  // NOLINT: this file has no users

extern "C" {

int munmap(void* at, std::size_t bytes) noexcept {
  const change during(address(at), end_of(at, bytes));
  if (auto* const next = next_munmap.get(); next != nullptr) return next(at, bytes);
  return static_cast<int>(syscall(SYS_munmap, at, bytes));
}

void* mmap(void* at, std::size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  if ((flags & MAP_FIXED) == 0) return map(at, bytes, protection, flags, file, offset);
  const change during(address(at), end_of(at, bytes));
  return map(at, bytes, protection, flags, file, offset);
}

void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file,
             off_t offset) noexcept {
  return mmap(at, bytes, protection, flags, file, offset);
}

void* mremap(void* at, std::size_t bytes, std::size_t wanted, int flags, ...) noexcept {
  void* to = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    va_list more;
    va_start(more, flags);
    to = va_arg(more, void*);
    va_end(more);
  }
  // What stays where it is counts as changed, too: nobody knows before.
  const change from_here(address(at), end_of(at, bytes), change::kind::moves);
  if (to == nullptr) return remap(at, bytes, wanted, flags, to);
  const change to_there(address(to), end_of(to, wanted));
  return remap(at, bytes, wanted, flags, to);
}

int madvise(void* at, std::size_t bytes, int advice) noexcept {
  const auto give = [=] {
    if (auto* const next = next_madvise.get(); next != nullptr) return next(at, bytes, advice);
    return static_cast<int>(syscall(SYS_madvise, at, bytes, advice));
  };
  if (!takes_pages_away(advice)) return give();
  const change during(address(at), end_of(at, bytes));
  return give();
}

// The kernel tells nobody of these two (Linux 6.18), and the size of a segment is not to be had
// from its address: everything behind it counts as changed.

int shmdt(const void* at) noexcept {
  const change during(address(at), everything);
  if (auto* const next = next_shmdt.get(); next != nullptr) return next(at);
  return static_cast<int>(syscall(SYS_shmdt, at));
}

void* shmat(int segment, const void* at, int flags) noexcept {
  const auto attach = [=] {
    if (auto* const next = next_shmat.get(); next != nullptr) return next(segment, at, flags);
    return as_pointer(syscall(SYS_shmat, segment, at, flags));
  };
  if ((flags & SHM_REMAP) == 0) return attach();
  const change during(address(at), everything);
  return attach();
}

// Libc keeps its own note of where the heap ends, so only libc can move it.

int brk(void* end) noexcept {
  if (next_brk.get() == nullptr) find_next_functions();
  const change during(address(end), address(sbrk(0)));
  return next_brk.get()(end);
}

void* sbrk(std::intptr_t more) noexcept {
  if (next_sbrk.get() == nullptr) find_next_functions();
  if (more >= 0) return next_sbrk.get()(more);
  const std::uintptr_t end = address(next_sbrk.get()(0));
  const change during(end + static_cast<std::uintptr_t>(more), end);
  return next_sbrk.get()(more);
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
