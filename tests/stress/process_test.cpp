// SPDX-License-Identifier: BSD-3-Clause
// process_test.cpp - what the rest of the process does to the engine: fork, exec, signals (I11),
// and far more threads than processors (I10).
#include <dirent.h>
#include <fcntl.h>
#include <heddle/heddle.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

/// Messages to and from the other rank, small ones and large ones, until `stop`; then a last one.
void exchange_until(lane& l, rank other, tag t, const std::atomic<bool>& stop) {
  std::vector<std::byte> into(50'000);
  bool more = true;
  for (std::uint64_t i = 0; more; ++i) {
    const bool last = l.self() == 0 && stop.load(std::memory_order_relaxed);  // only a wish
    const auto data = pattern(last ? 0 : 1 + (i % 8 == 0 ? 49'000 : i % 300), i);
    flag received;
    while (is_busy(l.try_recv(other, t, into, received))) l.poll();
    ASSERT_EQ(l.send(other, t, data), status::done);
    ASSERT_EQ(l.wait(received), status::done);
    const std::size_t bytes = received.result().bytes;
    ASSERT_TRUE(is_pattern(std::span(into).first(bytes), i)) << "round " << i;
    more = !last && bytes != 0;
  }
}

// --- I11: fork ----------------------------------------------------------------------------------

/// What a child finds: the number of the first thing that is not as documented, or 0.
int child_finds(world& w, lane& l, const remote_region& theirs, region& mine) {
  std::vector<std::byte> buffer(100'000);
  const rank other = 1 - w.rank();
  flag f;
  if (l.try_send(other, 1, buffer, f) != status::closed) return 1;
  if (l.try_recv(other, 1, buffer, f) != status::closed) return 2;
  if (l.try_call(other, 1, {}, {}, f) != status::closed) return 3;
  if (!theirs.mapped() && l.try_put(buffer, theirs.at(0), f) != status::closed) return 4;
  if (!theirs.mapped() && l.get(buffer, theirs.at(0)) != status::closed) return 5;
  if (l.send(other, 1, buffer) != status::closed) return 6;
  if (l.recv(other, 1, buffer).code != status::closed) return 7;
  if (l.flush() != status::closed || l.wait(f) != status::closed) return 8;
  outcome seen;
  if (l.try_probe(other, 1, seen) != status::closed || l.try_cancel(f) != status::closed) return 9;
  if (l.poll() != 0) return 10;
  l.when_ready(f);
  if (f.result().code != status::closed) return 11;
  for (const auto& set_up : std::initializer_list<void (*)(world&)>{
           [](world& p) { lane{p}; }, [](world& p) { p.barrier(); },
           [](world& p) { (void)p.allocate(100); }, [](world& p) { (void)p.symmetric<int>(1); },
           [](world&) { world{}; }}) {
    try {
      set_up(w);
      return 12;
    } catch (const error&) {
      continue;
    }
  }
  mine.withdraw();      // this copy of it; the parent's goes on
  std::destroy_at(&l);  // likewise
  std::destroy_at(&w);
  return 0;
}

TEST_P(Stress, I11AForkInTheMiddleOfLoadDisturbsNobodyAndTheChildIsTold) {
  if (thread_sanitized)
    GTEST_SKIP() << "a child that allocates may find the sanitizer's own locks taken, for ever";
  const int forks = amount(10, 2);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    std::vector<std::byte> own = pattern(100'000, 9);
    region exposed = w.expose(own);
    key of_other;
    const rank other = 1 - w.rank();
    ASSERT_EQ(l.send(other, 9, std::as_bytes(std::span(&exposed.key(), 1))), status::done);
    ASSERT_EQ(l.recv(other, 9, std::as_writable_bytes(std::span(&of_other, 1))).code, status::done);
    const remote_region theirs = w.import(of_other);
    w.barrier();
    std::atomic<bool> stop = false;
    std::thread traffic([&] { exchange_until(l, 1 - w.rank(), 2, stop); });
    if (w.rank() == 0) {
      for (int i = 0; i < forks; ++i) {
        const pid_t child = fork();
        if (child == 0) _exit(child_finds(w, l, theirs, exposed));
        ASSERT_GT(child, 0);
        int how = 0;
        ASSERT_EQ(waitpid(child, &how, 0), child);
        EXPECT_EQ(how, 0) << "the child found " << WEXITSTATUS(how);
      }
      stop = true;
    }
    traffic.join();
    std::vector<std::byte> back(own.size());  // what the children withdrew is still there
    EXPECT_EQ(l.get(back, theirs.at(0)), status::done);
    EXPECT_TRUE(is_pattern(back, 9));
    w.barrier();
  });
}

std::set<int> open_descriptors() {
  std::set<int> open;
  DIR* const list = opendir("/proc/self/fd");
  while (const dirent* const entry = readdir(list)) open.insert(std::atoi(entry->d_name));
  open.erase(dirfd(list));
  closedir(list);
  return open;
}

/// Libraries open a file for a moment (hwloc, libstdc++), and sanitizers a pipe to look at memory.
bool stays_over_an_exec(int fd) {
  for (int looks = sanitized ? 100 : 30; looks > 0; --looks) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0) return false;
    if (looks > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

TEST_P(Stress, I11NoDescriptorIsInheritedByWhatTheProgramExecutes) {
  const std::set<int> before = open_descriptors();
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    event_descriptor bell;
    const region shared = w.allocate(10'000);
    std::atomic<bool> stop = true;
    exchange_until(l, 1 - w.rank(), 1, stop);  // all connections there are
    w.barrier();
    int seen = 0;
    for (const int fd : open_descriptors()) {
      if (before.contains(fd) || fcntl(fd, F_GETFD) < 0)
        continue;  // or gone: the other rank's list
      ++seen;
      EXPECT_FALSE(stays_over_an_exec(fd)) << "descriptor " << fd;
    }
    EXPECT_GT(seen, 0);
    w.barrier();
  });
}

// --- I11: signals -------------------------------------------------------------------------------

std::atomic<int> signals_taken = 0;  // by any thread

TEST_P(Stress, I11ASignalEveryMillisecondBreaksNothing) {
  struct sigaction old {
  }, now{};
  now.sa_handler = [](int) { signals_taken.fetch_add(1, std::memory_order_relaxed); };
  sigaction(SIGUSR1, &now, &old);  // without SA_RESTART: every system call is interrupted
  const auto rounds = static_cast<std::uint64_t>(amount(300, 20));
  settings s = config();
  s.spin_us = 0;  // sleeps are what gets interrupted
  run_ranks(2, s, [&](world& w) {
    std::atomic<bool> over = false;
    std::thread storm([&over, target = pthread_self()] {
      while (!over) {
        pthread_kill(target, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    {
      lane l(w);
      w.barrier();
      std::vector<std::byte> into(200'000);
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const auto data = pattern(i % 10 == 0 ? into.size() : i, i);
        flag received;
        while (is_busy(l.try_recv(1 - w.rank(), 1, into, received))) l.poll();
        EXPECT_EQ(l.send(1 - w.rank(), 1, data), status::done);
        EXPECT_EQ(l.wait(received), status::done);
        EXPECT_TRUE(is_pattern(std::span(into).first(received.result().bytes), i));
        if (i % 16 == 0) {
          EXPECT_EQ(barrier(l), status::done);
        }
      }
      w.barrier();
    }
    over = true;
    storm.join();
  });
  sigaction(SIGUSR1, &old, nullptr);
  EXPECT_GT(signals_taken.load(), 0);
}

// --- I10: more threads than processors
// ------------------------------------------------------------

/// The calling thread, and all that it starts, on one processor.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &before_) && CPU_COUNT(&one) == 0) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_{};
};

TEST_P(Stress, I10SixteenThreadsAndTwoExecutorsOnOneProcessorFinish) {
  constexpr int threads = 8, lanes = 2;  // of each rank; four threads share a lane
  const auto rounds = static_cast<std::uint64_t>(amount(100, 10));
  const OneProcessor only;
  run_ranks(2, config(), [&](world& w) {
    std::vector<std::unique_ptr<lane>> paths;
    for (int i = 0; i < lanes; ++i) paths.push_back(std::make_unique<lane>(w));
    w.barrier();
    std::vector<std::thread> team;
    std::atomic<int> at_work = threads;
    for (int t = 0; t < threads; ++t)
      team.emplace_back([&, t] {
        lane& l = *paths[static_cast<std::size_t>(t % lanes)];
        for (std::uint64_t i = 0; i < rounds; ++i) {
          std::uint64_t value = 0;
          const auto number = i * threads + static_cast<std::uint64_t>(t);
          flag received;
          const auto into = std::as_writable_bytes(std::span(&value, 1));
          while (is_busy(l.try_recv(1 - w.rank(), tag(t), into, received))) l.poll();
          EXPECT_EQ(l.send(1 - w.rank(), tag(t), std::as_bytes(std::span(&number, 1))),
                    status::done);
          EXPECT_EQ(l.wait(received), status::done);
          EXPECT_EQ(value, number);
        }
        --at_work;
      });
    // What the last thread of a lane has sent may still lie there.
    while (!has_executors() && at_work != 0)
      if (w.idle_hook() == 0) std::this_thread::yield();
    for (std::thread& t : team) t.join();
    w.barrier();
    paths.clear();
  });
}

}  // namespace
}  // namespace heddle::test
