// SPDX-License-Identifier: BSD-3-Clause
// batch_test.cpp - what was queued goes to the wire in posts of many, in its order and complete.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <array>
#include <numeric>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/world_core.h"
#include "support/nobody_drives.h"
#include "support/ranks.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

/// Less than a lane's queue holds.
constexpr std::size_t at_once = 512;

struct wire {
  const char* name;
  const char* backend;
  const char* faults;
};

/// In mode dedicated everything goes through the queue.
class Batches : public testing::TestWithParam<wire> {
 protected:
  static settings config() {
    settings s = settings_for(GetParam().backend);
    s.others["HEDDLE_SHM_CMA"] = "off";
    s.progress = "dedicated";
    s.executors = 1;
    s.faults = GetParam().faults;
    return s;
  }
  /// Such a wire may happen to refuse all of them but one at a time.
  static bool is_faulty() { return GetParam().faults[0] != '\0'; }
  /// Posts of many save such a wire nothing, so each message goes by itself.
  static bool only_copies() { return std::string_view(GetParam().backend) == "shm"; }
  /// Over shm the engine emulates what it cannot map, by messages of one fragment each.
  static bool posts_accesses() {
    return !is_faulty() && std::string_view(GetParam().backend) == "tcp";
  }
};
INSTANTIATE_TEST_SUITE_P(Wires, Batches,
                         testing::Values(wire{"shm", "shm", ""}, wire{"tcp", "tcp", ""},
                                         wire{"shm_faults", "shm", "seed=3,busy=30"},
                                         wire{"tcp_faults", "tcp", "seed=3,busy=30,split=30"}),
                         [](const auto& p) { return std::string(p.param.name); });

std::uint64_t together(world& w) {
  std::uint64_t ops = 0;
  w.core().lanes().for_each(
      [&](const engine::lane_core& core) { ops += core.port().counters().posted_together.get(); });
  return ops;
}

/// 1: it was posted. 0: it is done, or refused, which the test's expectations notice.
template <class F>
std::uint64_t until_accepted(lane& l, F&& attempt) {
  for (status s = attempt();; s = attempt()) {
    if (!is_busy(s)) return s == status::posted ? 1 : 0;
    l.poll();
  }
}

/// Sends all numbers in one tag, behind each other; how many are counted by `ended`.
std::uint64_t send_numbers(lane& l, std::span<const std::uint64_t> numbers, counter& ended) {
  std::uint64_t posted = 0;
  for (const std::uint64_t& n : numbers)
    posted += until_accepted(
        l, [&] { return l.try_send(1, 1, std::as_bytes(std::span(&n, 1)), completion(ended)); });
  return posted;
}

/// So that nothing waits for a connection that is being made.
void shake_hands(world& w, lane& l) {
  std::byte hand{};
  if (w.rank() == 0) {
    EXPECT_EQ(l.send(1, 2, std::span(&hand, 1)), status::done);
  }
  EXPECT_EQ(l.recv(1 - w.rank(), 2, std::span(&hand, 1)).code, status::done);
  if (w.rank() == 1) {
    EXPECT_EQ(l.send(0, 2, std::span(&hand, 1)), status::done);
  }
}

TEST_P(Batches, HoldManyMessagesInTheirOrder) {
  run_ranks(2, config(), [](world& w) {
    lane l(w), aside(w);
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(scaled(8'000, 2'000)));
    std::iota(numbers.begin(), numbers.end(), 0);
    shake_hands(w, l);
    counter ended;
    if (w.rank() == 0) {
      const auto first = std::span<const std::uint64_t>(numbers).first(at_once);
      std::uint64_t posted = 0;
      while_nobody_drives(aside, [&] { posted = send_numbers(l, first, ended); });
      EXPECT_EQ(l.wait(ended, posted), status::done);
      if (!is_faulty()) {  // what waits for a full ring later is posted together over any wire
        EXPECT_EQ(together(w) != 0, !only_copies());
      }
      posted += send_numbers(l, std::span(numbers).subspan(at_once), ended);
      EXPECT_EQ(l.wait(ended, posted), status::done);
    } else {
      for (const std::uint64_t expected : numbers) {
        std::uint64_t got = 0;
        ASSERT_EQ(l.recv(0, 1, std::as_writable_bytes(std::span(&got, 1))).code, status::done);
        ASSERT_EQ(got, expected);
      }
    }
    w.barrier();
  });
}

// A large message in the middle, by rendezvous, keeps its place among the small ones.
TEST_P(Batches, KeepTheOrderAroundALargeMessage) {
  constexpr std::size_t large = 300'000;
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    w.barrier();
    for (int round = 0; round < scaled(50, 5); ++round) {
      std::vector<std::byte> data(large, std::byte{9});
      std::vector<std::uint64_t> numbers{1, 2, 3, 4, 5, 6};
      counter ended;
      if (w.rank() == 0) {
        std::uint64_t posted = send_numbers(l, numbers, ended);
        posted += until_accepted(l, [&] { return l.try_send(1, 1, data, completion(ended)); });
        posted += send_numbers(l, numbers, ended);
        EXPECT_EQ(l.wait(ended, posted), status::done);
      } else {
        for (std::size_t i = 0; i < 2 * numbers.size() + 1; ++i) {
          std::vector<std::byte> into(large);
          const outcome got = l.recv(0, 1, into);
          ASSERT_EQ(got.code, status::done);
          ASSERT_EQ(got.bytes, i == numbers.size() ? large : 8u) << i;
        }
      }
    }
    w.barrier();
  });
}

// Between two sends the receive of a large message begins to fetch it, which the wire may refuse:
// the fetch then waits in the peer's backlog, and the second send behind it.
TEST_P(Batches, I5KeepTheOrderWhenAFetchBetweenThemHasToWait) {
  constexpr std::size_t large = 300'000;
  settings s = config();
  s.others["HEDDLE_SHM_CMA"] = "auto";  // so that a fetch is an operation of the wire
  run_ranks(2, s, [](world& w) {
    lane l(w), aside(w);
    shake_hands(w, l);
    for (int round = 0; round < scaled(200, 20); ++round) {
      std::vector<std::byte> data(large);
      std::array<std::uint64_t, 2> numbers{1, 2};
      counter ended;
      if (w.rank() == 0) {
        outcome announced;
        while (l.try_probe(1, 3, announced) != status::done) std::this_thread::yield();
        std::uint64_t posted = 0;
        while_nobody_drives(aside, [&] {
          posted += send_numbers(l, std::span(numbers).first(1), ended);
          posted += until_accepted(l, [&] { return l.try_recv(1, 3, data, completion(ended)); });
          posted += send_numbers(l, std::span(numbers).last(1), ended);
        });
        EXPECT_EQ(l.wait(ended, posted), status::done);
      } else {
        flag sent;
        ASSERT_EQ(l.try_send(0, 3, data, sent), status::posted);
        for (const std::uint64_t expected : numbers) {
          std::uint64_t got = 0;
          ASSERT_EQ(l.recv(0, 1, std::as_writable_bytes(std::span(&got, 1))).code, status::done);
          EXPECT_EQ(got, expected);
        }
        EXPECT_EQ(l.wait(sent), status::done);
      }
    }
    w.barrier();
  });
}

// Puts, gets and atomics of a peer's memory that is not mapped here.
TEST_P(Batches, HoldAccessesAsWell) {
  if (sanitized && is_faulty() && GetParam().backend == std::string_view("shm"))
    GTEST_SKIP() << "the thread sanitizer does not see that two mappings are one memory";
  run_ranks(2, config(), [](world& w) {
    lane l(w), aside(w);
    constexpr std::size_t words = at_once;
    std::vector<std::uint64_t> table(words, 0);
    region mine = w.expose(std::as_writable_bytes(std::span(table)));
    key other;
    const rank peer = 1 - w.rank();
    ASSERT_EQ(l.send(peer, 1, std::as_bytes(std::span(&mine.key(), 1))), status::done);
    ASSERT_EQ(l.recv(peer, 1, std::as_writable_bytes(std::span(&other, 1))).code, status::done);
    const remote_region theirs = w.import(other);
    std::vector<std::uint64_t> source(words);
    std::iota(source.begin(), source.end(), 1);
    counter ended;
    std::uint64_t posted = 0;
    while_nobody_drives(aside, [&] {
      for (std::size_t i = 0; i < words; ++i)
        posted += until_accepted(l, [&] {
          return l.try_put(std::as_bytes(std::span(&source[i], 1)), theirs.at(8 * i),
                           completion(ended));
        });
    });
    EXPECT_EQ(l.wait(ended, posted), status::done);
    EXPECT_EQ(l.flush(peer), status::done);
    w.barrier();
    EXPECT_EQ(table, source);
    if (posts_accesses()) {
      EXPECT_GT(together(w), 0u);
    }
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
