// SPDX-License-Identifier: BSD-3-Clause
// wake_cost.cpp - two threads on two cores that wake each other in turn.
#include "base/wake_cost.h"

#include <sched.h>
#include <sys/eventfd.h>

#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/signals_blocked.h"

namespace heddle {
namespace {

/// A busy machine takes time slices for a round; then fewer have to do.
constexpr std::size_t most_rounds = 48, fewest_rounds = 5;
constexpr std::uint64_t longest_ns = 10'000'000;

/// A thread alone on the `index`-th core that this one may use. Nowhere in particular when refused.
void run_on_core(int index) noexcept {
  cpu_set_t allowed, mine;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  index %= CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || index-- != 0) continue;
    CPU_ZERO(&mine);
    CPU_SET(core, &mine);
    (void)sched_setaffinity(0, sizeof mine, &mine);
  }
}

/// Bells on which the two sleep.
struct bells {
  const unique_fd there{eventfd(0, EFD_CLOEXEC)}, back{eventfd(0, EFD_CLOEXEC)};
  static constexpr eventfd_t next = 1, last = 2;
};

void answer(const bells& b) noexcept {
  run_on_core(1);
  eventfd_t rung = 0;
  while (eventfd_read(b.there.get(), &rung) == 0 && rung != bells::last)
    eventfd_write(b.back.get(), 1);
}

/// Half round trips.
void ask(const bells& b, std::vector<std::uint64_t>& halves) noexcept {
  run_on_core(0);
  const std::uint64_t end = now_ns() + longest_ns;
  while (halves.size() < most_rounds) {
    const std::uint64_t begin = now_ns();
    if (begin > end && halves.size() >= fewest_rounds) break;
    eventfd_t rung = 0;
    eventfd_write(b.there.get(), bells::next);
    eventfd_read(b.back.get(), &rung);
    halves.push_back((now_ns() - begin) / 2);  // has room: see measure()
  }
  eventfd_write(b.there.get(), bells::last);
}

/// Both on threads of their own: the caller's affinity and signals stay as they are.
std::uint64_t measure() {
  const bells b;
  if (!b.there || !b.back) return 0;
  std::vector<std::uint64_t> halves;
  halves.reserve(most_rounds);
  try {
    const signals_blocked during;
    std::thread answering([&] { answer(b); });
    try {
      std::thread([&] { ask(b, halves); }).join();
    } catch (const std::system_error&) {  // no second thread: the first one must end
      eventfd_write(b.there.get(), bells::last);
    }
    answering.join();
  } catch (const std::system_error&) {  // not even one: unknown
  }
  if (halves.empty()) return 0;
  const auto middle = halves.begin() + static_cast<std::ptrdiff_t>(halves.size() / 2);
  std::nth_element(halves.begin(), middle, halves.end());
  return *middle;
}

}  // namespace

std::uint64_t wake_cost_ns() {
  static const std::uint64_t measured = measure();
  return measured;
}

}  // namespace heddle
