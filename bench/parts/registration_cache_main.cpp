// SPDX-License-Identifier: BSD-3-Clause
// registration_cache_main.cpp - heddle_registration_cache: what a lease on registered memory costs.
//
// Without arguments a table of times. With a part's name and a number that part so often and
// nothing else, for callgrind: the difference between two numbers is the part's. Valgrind has no
// userfaultfd, so that wants HEDDLE_RCACHE=hooks; a hit is the same.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

#include "base/settings.h"
#include "memory/registration_cache.h"
#include "parts/pinning.h"
#include "parts/timing.h"

namespace {

using namespace heddle::memory;
using heddle::bare::median_seconds_per_step;  // others may use the cores

constexpr std::size_t page = 64 * 1024;
constexpr std::size_t pages = 256;
constexpr auto time = std::chrono::milliseconds(200);

/// Costs nothing: what remains is the cache's.
class free_registrar final : public registrar {
 public:
  registered register_memory(std::span<std::byte>) noexcept override {
    return {answer::done, ++last_};
  }
  void deregister(std::uint64_t) noexcept override {}

 private:
  std::uint64_t last_ = 0;
};

std::byte* map(std::size_t bytes, void* at = nullptr) {
  void* const got = mmap(at, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED : 0), -1, 0);
  if (got == MAP_FAILED) throw std::runtime_error("mmap");
  return static_cast<std::byte*>(got);
}

/// A result that has to be there, and is not used.
template <class T>
void keep(T value) {
  asm volatile("" : : "r"(value) : "memory");
}

/// A cache, and memory of which every second page is registered: 64 entries that stay apart.
struct bench {
  explicit bench(unmap_monitor* with) : cache(device, with, {.entries = 64}) {
    for (std::size_t i = 0; i < 64; ++i) static_cast<void>(!cache.acquire(buffer(i)));
  }
  [[nodiscard]] std::span<const std::byte> buffer(std::size_t i) const {
    const auto first = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) & ~(page - 1);
    const std::size_t skipped = first - reinterpret_cast<std::uintptr_t>(memory);
    return {memory + skipped + 2 * i * page + 100, 4096};
  }

  free_registrar device;
  std::byte* const memory = map(pages * page);
  registration_cache cache;
  registration_cache::hint last;
  heddle::bare::random_slots slots{64, 1};
  std::size_t next = 0;
};

/// What is repeated.
struct part {
  std::string name, what;
  void (*step)(bench&);
};

const part parts[]{
    {"hit", "hit, the same buffer as before",
     [](bench& b) { keep(b.cache.acquire(b.buffer(7), b.last).offset()); }},
    {"search", "hit, another of 64 buffers each time",
     [](bench& b) { keep(b.cache.acquire(b.buffer(b.slots.next())).offset()); }},
    {"miss", "miss that evicts, registrar free of charge",
     [](bench& b) { keep(b.cache.acquire(b.buffer(b.next++ % 128)).offset()); }},
    {"nothing", "the loop around these", [](bench& b) { keep(b.buffer(7).data()); }},
};

void print(const std::string& what, double seconds) {
  fmt::print("{:<60}{:>10.1f} ns\n", what, seconds * 1e9);
}

/// Each thread on a core of its own where there are so many. `apart`: each its own buffer.
void print_threads(bench& b, std::size_t threads, bool apart) {
  const auto cores = heddle::bare::allowed_cores();
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::atomic<double> mean{0};
  std::vector<std::jthread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    all.push_back(heddle::bare::start_pinned(cores[t % cores.size()], [&, t] {
      registration_cache::hint last;
      const auto buffer = b.buffer(apart ? 5 * t : 5);
      start.arrive_and_wait();
      mean += median_seconds_per_step(time, 1000,
                                      [&] { keep(b.cache.acquire(buffer, last).offset()); }) /
              static_cast<double>(threads);
    }));
  }
  all.clear();  // waits for them
  print(fmt::format("hit, {} threads, {}", threads, apart ? "a buffer each" : "one buffer"), mean);
}

/// What it costs the program to give back a page that is cached, or not.
void print_unmapping(bench& b) {
  std::byte* const at = map(page);
  const auto each = [&](bool cached, auto unmap) {
    return median_seconds_per_step(time / 2, 10, [&] {
      map(page, at)[0] = std::byte{1};
      if (cached) static_cast<void>(!b.cache.acquire({at, 8}));
      unmap();
    });
  };
  const auto call = [&] { munmap(at, page); };
  const auto past_us = [&] { syscall(SYS_munmap, at, page); };
  print("map, write, munmap()", each(false, call));
  print("the same, cached meanwhile: with a miss", each(true, call));
  print("the same by a system call that only the kernel tells of", each(true, past_us));
}

void print_table(unmap_monitor* monitor) {
  fmt::print("changes are noticed by: {}\n", monitor != nullptr ? monitor->report().why : "nobody");
  bench b(monitor), off(nullptr);
  const auto time_of = [](bench& of, const part& p, std::size_t block) {
    return median_seconds_per_step(time, block, [&] { p.step(of); });
  };
  for (const part& p : parts) print(p.what, time_of(b, p, p.name == "miss" ? 10 : 1000));
  print("register and deregister each time (off)", time_of(off, parts[0], 100));
  for (const bool apart : {true, false})
    for (const std::size_t threads : {1u, 2u, 3u, 4u}) print_threads(b, threads, apart);
  print_unmapping(b);
}

void run_part(unmap_monitor* monitor, const std::string& name, long times) {
  bench b(monitor);
  const part* const found = std::ranges::find(parts, name, &part::name);
  if (found == std::end(parts)) throw std::runtime_error("no part of that name");
  for (long i = 0; i < times; ++i) found->step(b);
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::string mode = heddle::read_settings().rcache;
    unmap_monitor* const monitor = unmap_monitor::start(mode);
    if (count == 3) {
      run_part(monitor, words[1], std::strtol(words[2], nullptr, 10));
    } else {
      print_table(monitor);
    }
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "heddle_registration_cache: {}\n", failure.what());
    return 1;
  }
}
