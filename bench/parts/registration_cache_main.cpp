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

#include <barrier>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "memory/registration_cache.h"
#include "parts/pinning.h"
#include "parts/random_slots.h"
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
};

/// One part: a step to be repeated.
using step = std::function<void()>;

struct part {
  std::string name, what;
  std::function<step(bench&)> make;
};

const std::vector<part>& parts() {
  static const std::vector<part> all{
      {"hit", "hit, the same buffer as before",
       [](bench& b) -> step {
         return [&b, last = registration_cache::hint()]() mutable {
           const auto lease = b.cache.acquire(b.buffer(7), last);
           asm volatile("" : : "r"(lease.offset()) : "memory");
         };
       }},
      {"search", "hit, another of 64 buffers each time",
       [](bench& b) -> step {
         return [&b, slots = heddle::bare::random_slots(64, 1)]() mutable {
           const auto lease = b.cache.acquire(b.buffer(slots.next()));
           asm volatile("" : : "r"(lease.offset()) : "memory");
         };
       }},
      {"miss", "miss that evicts, registrar free of charge",
       [](bench& b) -> step {
         return [&b, i = std::size_t{0}]() mutable {
           const auto lease = b.cache.acquire(b.buffer(i++ % 128));
           asm volatile("" : : "r"(lease.offset()) : "memory");
         };
       }},
      {"nothing", "the loop around these",
       [](bench& b) -> step {
         return [&b] {
           const auto buffer = b.buffer(7);
           asm volatile("" : : "r"(buffer.data()) : "memory");
         };
       }},
  };
  return all;
}

void print(const std::string& what, double seconds) {
  fmt::print("{:<60}{:>10.1f} ns\n", what, seconds * 1e9);
}

/// Each thread on a core of its own where there are so many. `apart`: each its own buffer.
void print_threads(bench& b, std::size_t threads, bool apart) {
  const auto cores = heddle::bare::allowed_cores();
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::vector<double> seconds(threads);
  {
    std::vector<std::jthread> all;
    for (std::size_t t = 0; t < threads; ++t) {
      all.push_back(heddle::bare::start_pinned(cores[t % cores.size()], [&, t] {
        registration_cache::hint last;
        const auto buffer = b.buffer(apart ? 5 * t : 5);
        start.arrive_and_wait();
        seconds[t] = median_seconds_per_step(time, 1000, [&] {
          const auto lease = b.cache.acquire(buffer, last);
          asm volatile("" : : "r"(lease.offset()) : "memory");
        });
      }));
    }
  }
  double sum = 0;
  for (const double s : seconds) sum += s;
  print(fmt::format("hit, {} threads, {}", threads, apart ? "a buffer each" : "one buffer"),
        sum / static_cast<double>(threads));
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
  bench b(monitor);
  for (const part& p : parts()) {
    const step once = p.make(b);
    print(p.what, median_seconds_per_step(time, p.name == "miss" ? 10 : 1000, once));
  }
  {
    bench off(nullptr);
    const step once = parts()[0].make(off);
    print("register and deregister each time (off)", median_seconds_per_step(time, 100, once));
  }
  for (const bool apart : {true, false})
    for (const std::size_t threads : {1u, 2u, 3u, 4u}) print_threads(b, threads, apart);
  print_unmapping(b);
}

void run_part(unmap_monitor* monitor, const std::string& name, long times) {
  bench b(monitor);
  for (const part& p : parts()) {
    if (p.name != name) continue;
    const step once = p.make(b);
    for (long i = 0; i < times; ++i) once();
    return;
  }
  throw std::runtime_error("no part of that name");
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
