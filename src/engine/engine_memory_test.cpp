// SPDX-License-Identifier: BSD-3-Clause
// engine_memory_test.cpp - remote memory between ranks, over each way, with verified results.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

class EngineMemory : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, EngineMemory, all_ways(), name_of_way);

TEST_P(EngineMemory, PutsAndGetsReachSymmetricMemory) {
  run_ranks(3, config(), [](world& w) {
    lane l(w);
    auto table = w.symmetric<std::uint64_t>(64);
    for (rank peer = 0; peer < w.size(); ++peer) {
      const auto value = static_cast<std::uint64_t>(w.rank() * 100 + peer);
      EXPECT_EQ(l.put(value, table.at(peer, static_cast<std::size_t>(w.rank()))), status::done);
    }
    w.barrier();
    for (rank peer = 0; peer < w.size(); ++peer) {
      EXPECT_EQ(table.local()[static_cast<std::size_t>(peer)],
                static_cast<std::uint64_t>(peer * 100 + w.rank()));
      std::uint64_t got = 0;
      EXPECT_EQ(l.get(got, table.at(peer, 0)), status::done);
      EXPECT_EQ(got, static_cast<std::uint64_t>(peer));
    }
    w.barrier();
  });
}

TEST_P(EngineMemory, PutsAndGetsOfAllSizesReachExposedMemory) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    std::vector<std::byte> memory(3 << 20);
    region mine = w.expose(memory);
    key other;
    const rank peer = 1 - w.rank();
    ASSERT_EQ(l.send(peer, 1, std::as_bytes(std::span(&mine.key(), 1))), status::done);
    ASSERT_EQ(l.recv(peer, 1, std::as_writable_bytes(std::span(&other, 1))).code, status::done);
    const remote_region theirs = w.import(other);
    for (const std::size_t bytes : {0u, 1u, 8u, 4095u, 65536u, 1000003u, 2u << 20}) {
      const auto data = pattern(bytes, static_cast<unsigned>(bytes));
      ASSERT_EQ(l.put(data, theirs.at(7)), status::done) << bytes;
      std::vector<std::byte> back(bytes);
      ASSERT_EQ(l.get(back, theirs.at(7)), status::done) << bytes;
      ASSERT_EQ(back, data) << bytes;
    }
    w.barrier();
  });
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

// The address of nothing may be null, which memcpy does not take.
TEST_P(EngineMemory, NothingIsPutAndGotWithoutACopyAndWithinBounds) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    const auto table = w.symmetric<std::uint64_t>(8);
    remote_address place = table.at(1 - w.rank(), 0).address;
    for (const std::uint64_t offset : {0, 8, 64}) {  // 64: its end
      place.offset = offset;
      EXPECT_FALSE(detail::reachable(*place.target, offset, 0, rights::none));
      EXPECT_EQ(l.put({}, place), status::done) << offset;
      EXPECT_EQ(l.get(std::span<std::byte>(), place), status::done) << offset;
    }
    place.offset = 65;
    EXPECT_EQ(l.put({}, place), status::out_of_bounds);
    EXPECT_EQ(l.get(std::span<std::byte>(), place), status::out_of_bounds);
    w.barrier();
  });
}

TEST_P(EngineMemory, RegionsThatComeAndGoLeaveNoDescriptors) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto keys = w.symmetric<key>(1);
    const auto show_one_and_end_it = [&](std::uint64_t value) {
      const region mine = w.allocate(4096);
      keys.local()[0] = mine.key();
      w.barrier();
      key other;
      ASSERT_EQ(l.get(other, keys.at(1 - w.rank())), status::done);
      const remote_region theirs = w.import(other);
      ASSERT_EQ(l.put(value, theirs.at_item<std::uint64_t>(7)), status::done);
      w.barrier();
    };
    for (std::uint64_t warm_up = 0; warm_up < 5; ++warm_up) show_one_and_end_it(warm_up);
    w.barrier();
    const auto before = open_descriptors();
    w.barrier();
    for (std::uint64_t i = 0; i < 100; ++i) show_one_and_end_it(i);
    w.barrier();
    EXPECT_LE(open_descriptors(), before + 2);  // the other rank's look, too
    w.barrier();
  });
}

TEST_P(EngineMemory, AtomicsOfBothWidthsAddUpAcrossRanks) {
  run_ranks(4, config(), [](world& w) {
    lane l(w);
    auto wide = w.symmetric<std::uint64_t>(1);
    auto narrow = w.symmetric<std::uint32_t>(1);
    std::vector<std::uint64_t> plain(1);
    region exposed = w.expose(std::as_writable_bytes(std::span(plain)));
    auto keys = w.symmetric<key>(1);
    keys.local()[0] = exposed.key();
    w.barrier();
    key zero_key;
    ASSERT_EQ(l.get(zero_key, keys.at(0)), status::done);
    const remote_region at_zero = w.import(zero_key);
    constexpr int rounds = 200;
    for (int i = 0; i < rounds; ++i) {
      std::uint64_t old64 = 0;
      std::uint32_t old32 = 0;
      ASSERT_EQ(l.fetch_add(wide.at(0), std::uint64_t{3}, old64), status::done);
      ASSERT_EQ(l.fetch_add(narrow.at(0), 5u, old32), status::done);
      ASSERT_EQ(l.fetch_add(at_zero.at_item<std::uint64_t>(0), std::uint64_t{7}, old64),
                status::done);
    }
    w.barrier();
    if (w.rank() == 0) {
      EXPECT_EQ(wide.local()[0], 3u * 4 * rounds);
      EXPECT_EQ(narrow.local()[0], 5u * 4 * rounds);
      // Atomic for thread sanitizer: the order comes by a ring that each rank maps elsewhere.
      EXPECT_EQ(std::atomic_ref(plain[0]).load(), 7u * 4 * rounds);
    }
    w.barrier();
  });
}

TEST_P(EngineMemory, EveryAtomicDoesWhatItSays) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto word = w.symmetric<std::uint64_t>(1);
    if (w.rank() == 0) {
      std::uint64_t old = 0;
      const auto at = word.at(1);
      EXPECT_EQ(l.fetch_atomic(atomic_op::swap, at, std::uint64_t{0b1100}, old), status::done);
      EXPECT_EQ(l.fetch_atomic(atomic_op::bit_and, at, std::uint64_t{0b0110}, old), status::done);
      EXPECT_EQ(old, 0b1100u);
      EXPECT_EQ(l.fetch_atomic(atomic_op::bit_or, at, std::uint64_t{0b0011}, old), status::done);
      EXPECT_EQ(old, 0b0100u);
      EXPECT_EQ(l.fetch_atomic(atomic_op::bit_xor, at, std::uint64_t{0b0101}, old), status::done);
      EXPECT_EQ(old, 0b0111u);
      EXPECT_EQ(
          l.fetch_atomic(atomic_op::compare_swap, at, std::uint64_t{9}, old, std::uint64_t{1}),
          status::done);
      EXPECT_EQ(old, 0b0010u);  // no match: unchanged
      EXPECT_EQ(
          l.fetch_atomic(atomic_op::compare_swap, at, std::uint64_t{9}, old, std::uint64_t{2}),
          status::done);
      EXPECT_EQ(l.get(old, at), status::done);
      EXPECT_EQ(old, 9u);
    }
    w.barrier();
  });
}

/// All ranks change the words of rank 0 at the same time.
template <class T>
void sum_and_bound(world& w, lane& l) {
  constexpr int times = 200;
  auto words = w.symmetric<T>(3);
  T old{};
  for (int i = 0; i < times; ++i) {
    EXPECT_EQ(l.add(words.at(0, 0), static_cast<T>(2)), status::done);
    if constexpr (std::integral<T>) {
      const auto mine = static_cast<T>(static_cast<T>(i) * (w.rank() == 0 ? 1 : -1));
      EXPECT_EQ(l.fetch_min(words.at(0, 1), mine, old), status::done);
      EXPECT_EQ(l.fetch_max(words.at(0, 2), mine, old), status::done);
    }
  }
  w.barrier();
  T least{}, most{};
  EXPECT_EQ(l.fetch_add(words.at(0, 0), T{}, old), status::done);
  EXPECT_EQ(old, static_cast<T>(2 * times * w.size()));
  EXPECT_EQ(l.get(least, words.at(0, 1)), status::done);
  EXPECT_EQ(l.get(most, words.at(0, 2)), status::done);
  if constexpr (std::signed_integral<T>) {
    EXPECT_EQ(least, -(times - 1));
    EXPECT_EQ(most, times - 1);
  } else if constexpr (std::integral<T>) {
    EXPECT_EQ(least, 0u);
    EXPECT_EQ(most, static_cast<T>(-1));
  }
  w.barrier();
}

TEST_P(EngineMemory, SumsBoundsAndFloatingNumbersAreAtomic) {
  run_ranks(3, config(), [](world& w) {
    lane l(w);
    sum_and_bound<std::int32_t>(w, l);
    sum_and_bound<std::uint32_t>(w, l);
    sum_and_bound<std::int64_t>(w, l);
    sum_and_bound<std::uint64_t>(w, l);
    sum_and_bound<float>(w, l);
    sum_and_bound<double>(w, l);
  });
}

TEST_P(EngineMemory, FloatingNumbersAreSwappedAndHaveNoBits) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto words = w.symmetric<double>(2);
    const auto at = words.at(1 - w.rank(), 1);
    double old = 7;
    EXPECT_EQ(l.swap(at, 1.5, old), status::done);
    EXPECT_EQ(old, 0.0);
    EXPECT_EQ(l.compare_swap(at, 1.5, -2.5, old), status::done);
    EXPECT_EQ(old, 1.5);
    EXPECT_EQ(l.fetch_add(at, 0.25, old), status::done);
    EXPECT_EQ(old, -2.5);
    for (const atomic_op op : {atomic_op::bit_and, atomic_op::bit_or, atomic_op::bit_xor,
                               atomic_op::min, atomic_op::max})
      EXPECT_EQ(l.fetch_atomic(op, at, 1.0, old), status::invalid);
    EXPECT_EQ(old, -2.5);
    flag ended;
    const status s = l.try_atomic(atomic_op::add, at, 2.25, nullptr, ended);
    EXPECT_EQ(s == status::posted ? l.wait(ended) : s, status::done);
    EXPECT_EQ(l.flush(), status::done);
    EXPECT_EQ(l.get(old, at), status::done);
    EXPECT_EQ(old, 0.0);
    w.barrier();
  });
}

TEST_P(EngineMemory, AccessesOutsideTheRegionOrWithoutTheRightAreRefusedAndChangeNothing) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto table = w.symmetric<std::uint64_t>(4);
    auto readable = w.symmetric<std::uint64_t>(4, rights::read);
    const rank peer = 1 - w.rank();
    std::uint64_t value = 1, old = 0;
    EXPECT_EQ(l.put(value, table.at(peer, 4)), status::out_of_bounds);
    EXPECT_EQ(l.get(value, table.at(peer, ~std::uint64_t{0} / 8)), status::out_of_bounds);
    EXPECT_EQ(l.put(value, readable.at(peer, 0)), status::denied);
    EXPECT_EQ(l.fetch_add(readable.at(peer, 0), std::uint64_t{1}, old), status::denied);
    EXPECT_EQ(l.get(value, readable.at(peer, 0)), status::done);
    const remote_ptr<std::uint64_t> odd{{table.at(peer).address.target, 4}};
    EXPECT_EQ(l.fetch_add(odd, std::uint64_t{1}, old), status::misaligned);
    EXPECT_EQ(l.put(value, table.at(5, 0)), status::invalid);
    w.barrier();
    EXPECT_EQ(table.local()[0], 0u);
  });
}

// In bytes these places would be inside: 2^61 items of eight bytes are 2^64 bytes, which is 0.
TEST_P(EngineMemory, AnIndexBeyondEveryAddressIsOutOfBounds) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto table = w.symmetric<std::uint64_t>(4);
    const rank peer = 1 - w.rank();
    constexpr std::uint64_t beyond = std::uint64_t{1} << 61;
    EXPECT_EQ(l.put(std::uint64_t{1}, table.at(peer, beyond)), status::out_of_bounds);
    EXPECT_EQ(l.put(std::uint64_t{1}, table.at(peer, 1) + beyond), status::out_of_bounds);
    EXPECT_EQ(l.put(std::uint64_t{1}, table.at(peer, 1) + (beyond - 1)), status::out_of_bounds);
    const remote_address there = table.at(peer, 1);
    std::uint64_t value = 1;
    EXPECT_EQ(l.put(std::as_bytes(std::span(&value, 1)), there + (~std::uint64_t{0} - 7)),
              status::out_of_bounds);
    w.barrier();
    for (const std::uint64_t each : table.local()) EXPECT_EQ(each, 0u);
    EXPECT_THROW((void)w.symmetric<std::uint64_t>(beyond), error);
    w.barrier();
  });
}

TEST_P(EngineMemory, AWithdrawnRegionAnswersWithdrawn) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto keys = w.symmetric<key>(2);
    region allocated = w.allocate(64);
    std::vector<std::byte> own(64);
    region exposed = w.expose(own);
    keys.local()[0] = allocated.key();
    keys.local()[1] = exposed.key();
    w.barrier();
    std::array<key, 2> theirs;
    for (std::size_t i = 0; i < 2; ++i)
      ASSERT_EQ(l.get(theirs[i], keys.at(1 - w.rank(), i)), status::done);
    const remote_region a = w.import(theirs[0]), b = w.import(theirs[1]);
    std::uint64_t x = 5;
    EXPECT_EQ(l.put(x, a.at_item<std::uint64_t>(0)), status::done);
    EXPECT_EQ(l.put(x, b.at_item<std::uint64_t>(0)), status::done);
    w.barrier();
    allocated.withdraw();
    exposed.withdraw();
    w.barrier();
    EXPECT_EQ(l.put(x, a.at_item<std::uint64_t>(0)), status::withdrawn);
    EXPECT_EQ(l.put(x, b.at_item<std::uint64_t>(0)), status::withdrawn);
    w.barrier();
  });
}

/// What may only be read is lent to a network from a cache of registrations.
TEST_P(EngineMemory, AWithdrawnRegionThatWasReadAnswersWithdrawnWhateverItsRights) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto keys = w.symmetric<key>(1);
    std::vector<std::byte> own(4096);
    for (const rights allowed : {rights::read, rights::read | rights::write, rights::all}) {
      region exposed = w.expose(own, allowed);
      keys.local()[0] = exposed.key();
      w.barrier();
      key theirs;
      ASSERT_EQ(l.get(theirs, keys.at(1 - w.rank(), 0)), status::done);
      const remote_region there = w.import(theirs);
      std::uint64_t x = 5;
      EXPECT_EQ(l.get(x, there.at_item<std::uint64_t>(1)), status::done);
      w.barrier();
      exposed.withdraw();
      w.barrier();
      EXPECT_EQ(l.get(x, there.at_item<std::uint64_t>(1)), status::withdrawn);
      w.barrier();
    }
  });
}

struct notified {
  std::span<std::uint64_t> data;
  std::atomic<int> good{0};
};
void on_notify(void* context, lane&, const call_message& m) noexcept {
  auto& n = *static_cast<notified*>(context);
  std::uint64_t value = 0;
  std::memcpy(&value, m.header.data(), sizeof value);
  if (n.data[value] == value + 1) ++n.good;
}

TEST_P(EngineMemory, APutIsVisibleWhenItsNotificationArrives) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto table = w.symmetric<std::uint64_t>(100);
    notified n;
    n.data = table.local();
    w.set_handler(9, on_notify, &n);
    w.barrier();
    std::array<std::uint64_t, 100> values{};
    counter ended;
    std::uint64_t posted = 0;
    for (std::uint64_t i = 0; i < 100; ++i) {
      values[i] = i + 1;
      status s = status::busy_queue;
      while (is_busy(s)) {
        s = l.try_put_notify(std::as_bytes(std::span(&values[i], 1)), table.at(1 - w.rank(), i), 9,
                             i, ended);
        if (is_busy(s)) l.poll();
      }
      posted += s == status::posted ? 1 : 0;
    }
    EXPECT_EQ(l.wait(ended, posted), status::done);
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (n.good != 100 && std::chrono::steady_clock::now() < end) l.poll();
    EXPECT_EQ(n.good, 100);
    w.barrier();
  });
}

TEST_P(EngineMemory, EverythingProgressesWhileTheTargetComputes) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    std::vector<std::uint64_t> own(8, 1);
    region exposed = w.expose(std::as_writable_bytes(std::span(own)));
    auto keys = w.symmetric<key>(1);
    auto finished = w.symmetric<std::uint64_t>(1);
    keys.local()[0] = exposed.key();
    w.barrier();
    if (w.rank() == 1) {  // no call at all until rank 0 has finished, unless nobody else makes one
      const std::atomic_ref<std::uint64_t> word(finished.local()[0]);
      while (word.load() == 0) {
        if (only_inline()) w.idle_hook();
        std::this_thread::yield();
      }
      return;
    }
    key theirs;
    ASSERT_EQ(l.get(theirs, keys.at(1)), status::done);
    const remote_region r = w.import(theirs);
    std::uint64_t value = 0, old = 0;
    EXPECT_EQ(l.get(value, r.at_item<std::uint64_t>(0)), status::done);
    EXPECT_EQ(value, 1u);
    EXPECT_EQ(l.fetch_add(r.at_item<std::uint64_t>(1), std::uint64_t{4}, old), status::done);
    EXPECT_EQ(l.get(value, r.at_item<std::uint64_t>(1)), status::done);
    EXPECT_EQ(value, 5u);
    EXPECT_EQ(l.fetch_add(finished.at(1), std::uint64_t{1}, old), status::done);
  });
}

TEST_P(EngineMemory, FlushWaitsForEveryPut) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    std::vector<std::uint64_t> own(1000);
    region exposed = w.expose(std::as_writable_bytes(std::span(own)));
    auto keys = w.symmetric<key>(1);
    keys.local()[0] = exposed.key();
    w.barrier();
    key theirs;
    ASSERT_EQ(l.get(theirs, keys.at(1 - w.rank())), status::done);
    const remote_region r = w.import(theirs);
    std::vector<std::uint64_t> values(1000);
    std::iota(values.begin(), values.end(), 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      while (is_busy(l.try_put(values[i], r.at_item<std::uint64_t>(i)))) l.poll();
    }
    EXPECT_EQ(l.flush(1 - w.rank()), status::done);
    w.barrier();
    // Takes the lane from the thread that wrote to `own`, whom the thread sanitizer loses sight of
    // where a message goes through a ring that is mapped twice.
    EXPECT_EQ(l.flush(), status::done);
    EXPECT_EQ(own, values);
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
