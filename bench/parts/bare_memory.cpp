// SPDX-License-Identifier: BSD-3-Clause
// bare_memory.cpp - the limits set by caches and memory: lines, stores, atomics, copies.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "parts/bare.h"
#include "parts/system.h"
#include "parts/timing.h"

namespace heddle::bare {
namespace {

constexpr std::uint64_t stop = std::numeric_limits<std::uint64_t>::max();

struct alignas(HEDDLE_CACHE_LINE) line {
  std::atomic<std::uint64_t> word{0};
};

/// Spins until the word is `wanted` or `stop`; gives the core away now and then, so that two sides
/// on one core still end. True: it is `wanted`.
bool await(const line& at, std::uint64_t wanted) {
  for (unsigned spins = 0;; ++spins) {
    const std::uint64_t seen = at.word.load(std::memory_order_acquire);  // A1 pairs with R1
    if (seen == wanted) return true;
    if (seen == stop) return false;
    if (spins % 16384 == 16383) sched_yield();
  }
}

/// A process that only sleeps, so that its memory can be read; gone at the end of the scope.
class sleeping_process {
 public:
  sleeping_process() : id_(checked(fork(), "fork a process to read from")) {
    if (id_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
  }
  sleeping_process(const sleeping_process&) = delete;
  sleeping_process& operator=(const sleeping_process&) = delete;
  ~sleeping_process() {
    kill(id_, SIGKILL);
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  [[nodiscard]] pid_t id() const noexcept { return id_; }

 private:
  pid_t id_;
};

/// Per second, of words of a shared mapping.
template <class F>
double random_accesses(int core, std::size_t table_bytes, duration time, F access) {
  const shared_mapping table(table_bytes);
  const double seconds = on_core(core, [&] {
    auto* const words = reinterpret_cast<std::uint64_t*>(table.data());
    random_slots slots(table_bytes / sizeof(std::uint64_t), 1);
    return seconds_per_step(time, 100'000, [&] { access(words[slots.next()]); });
  });
  return 1 / seconds;
}

}  // namespace

double cache_line_one_way(core_pair cores, duration time) {
  line shared;
  const std::jthread echo = start_pinned(cores.second, [&shared] {
    for (std::uint64_t turn = 1; await(shared, turn); turn += 2) {
      shared.word.store(turn + 1, std::memory_order_release);  // R1 pairs with A1
    }
  });
  const double round_trip = on_core(cores.first, [&] {
    std::uint64_t turn = 0;
    const double seconds = median_seconds_per_step(time, 100, [&] {
      shared.word.store(turn + 1, std::memory_order_release);  // R1 pairs with A1
      turn += 2;
      await(shared, turn);
    });
    shared.word.store(stop, std::memory_order_release);  // R1 pairs with A1
    return seconds;
  });
  return round_trip / 2;
}

double random_stores(int core, std::size_t table_bytes, duration time) {
  return random_accesses(core, table_bytes, time, [value = std::uint64_t{0}](auto& word) mutable {
    static_cast<volatile std::uint64_t&>(word) = ++value;
  });
}

double random_atomics(int core, std::size_t table_bytes, duration time) {
  return random_accesses(core, table_bytes, time, [](std::uint64_t& word) {
    // The order Heddle's atomics have; nothing else touches the word.
    std::atomic_ref(word).fetch_add(1, std::memory_order_acq_rel);
  });
}

double copy_into_mapping(int core, std::size_t bytes, duration time) {
  const shared_mapping into(bytes);
  const std::vector<std::byte> from(bytes, std::byte{1});
  const double seconds = on_core(core, [&] {
    return seconds_per_step(time, 4, [&] {
      std::memcpy(into.data(), from.data(), bytes);
      asm volatile("" : : "r"(into.data()) : "memory");  // the copy counts as read
    });
  });
  return static_cast<double>(bytes) / seconds;
}

double read_other_process(int core, std::size_t bytes, duration time) {
  const shared_mapping theirs(bytes);
  const sleeping_process other;
  std::vector<std::byte> into(bytes);
  iovec here{into.data(), bytes};
  iovec there{theirs.data(), bytes};
  const double seconds = on_core(core, [&] {
    return seconds_per_step(time, 4, [&] {
      checked(process_vm_readv(other.id(), &here, 1, &there, 1, 0), "process_vm_readv");
    });
  });
  return static_cast<double>(bytes) / seconds;
}

}  // namespace heddle::bare
