// SPDX-License-Identifier: BSD-3-Clause
// blocks_test.cpp - puts and gets of many blocks: every byte, one end, and failures among them.
#include <gtest/gtest.h>
#include <heddle/blocks.h>
#include <heddle/coroutine.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::test {
namespace {

using bytes = std::vector<std::byte>;

class Blocks : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, Blocks, all_ways(), name_of_way);

/// Cuts [0, total) into blocks of random sizes, empty ones too, in random order: offset and size.
std::vector<std::pair<std::size_t, std::size_t>> cut(std::size_t total, std::mt19937& random) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t at = 0; at < total;) {
    const std::size_t size = std::min<std::size_t>(total - at, random() % 900);
    all.emplace_back(at, size);
    at += size;
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

TEST_P(Blocks, AListOfAThousandBlocksArrivesWholeAndComesBack) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    constexpr std::size_t total = 400'000;
    auto there = w.symmetric<std::byte>(total);
    const rank peer = 1 - w.rank();
    std::mt19937 random(static_cast<unsigned>(w.rank()));
    const bytes data = pattern(total, static_cast<unsigned>(w.rank()));
    bytes back(total);
    std::vector<put_block> puts;
    std::vector<get_block> gets;
    for (const auto& [at, size] : cut(total, random)) {
      puts.push_back({std::span(data).subspan(at, size), there.at(peer, at)});
      gets.push_back({std::span(back).subspan(at, size), there.at(peer, at)});
    }
    EXPECT_EQ(put_blocks(l, puts), status::done);
    EXPECT_EQ(get_blocks(l, gets), status::done);
    EXPECT_EQ(back, data);
    w.barrier();
    EXPECT_TRUE(std::ranges::equal(there.local(), pattern(total, static_cast<unsigned>(peer))));
  });
}

TEST_P(Blocks, AGridOfThreeDimensionsIsWhatALoopWouldMove) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    constexpr std::size_t size = 60'000, block = 24;
    // Backwards at the peer in the first dimension, and in the local memory in the last.
    const std::array<stride, 3> shape{{{.count = 5, .here = 9000, .there = -7000},
                                       {.count = 7, .here = 960, .there = 480},
                                       {.count = 9, .here = -96, .there = 48}}};
    constexpr std::size_t here = 1000, there_at = 40'000;
    auto there = w.symmetric<std::byte>(size);
    const rank peer = 1 - w.rank();
    const bytes data = pattern(size, 7);
    bytes expected(size), back(size), expected_back(size);
    for (std::size_t i = 0; i < 5 * 7 * 9; ++i) {
      const auto a = static_cast<std::ptrdiff_t>(i / 63),
                 b = static_cast<std::ptrdiff_t>(i / 9 % 7), c = static_cast<std::ptrdiff_t>(i % 9);
      const std::ptrdiff_t from = here + 9000 * a + 960 * b - 96 * c;
      const std::ptrdiff_t to = there_at - 7000 * a + 480 * b + 48 * c;
      std::copy_n(data.begin() + from, block, expected.begin() + to);
      std::copy_n(data.begin() + from, block, expected_back.begin() + from);
    }
    EXPECT_EQ(put_grid(l, std::span(data).subspan(here, block), there.at(peer, there_at), shape),
              status::done);
    w.barrier();
    EXPECT_TRUE(std::ranges::equal(there.local(), expected));
    EXPECT_EQ(get_grid(l, std::span(back).subspan(here, block), there.at(peer, there_at), shape),
              status::done);
    EXPECT_EQ(back, expected_back);
    w.barrier();
  });
}

TEST_P(Blocks, TheEndComesOnceWithAllBytes) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    constexpr std::size_t block = 300, blocks = 200;
    bytes memory(block * blocks);
    region mine = w.expose(memory);
    key other;
    const rank peer = 1 - w.rank();
    ASSERT_EQ(l.send(peer, 1, std::as_bytes(std::span(&mine.key(), 1))), status::done);
    ASSERT_EQ(l.recv(peer, 1, std::as_writable_bytes(std::span(&other, 1))).code, status::done);
    const remote_region theirs = w.import(other);
    const bytes data(block);
    const stride all{.count = blocks, .here = 0, .there = block};
    completion_queue ends(4);
    status s = status::busy_queue;
    while (is_busy(s)) s = try_put_grid(l, data, theirs.at(0), {&all, 1}, ends.with(5));
    completion_queue::entry e;
    if (s == status::posted) {
      l.wait(ends, 1);
      ASSERT_TRUE(ends.try_pop(e));
      EXPECT_EQ(e.what.code, status::done);
      EXPECT_EQ(e.what.bytes, block * blocks);
      EXPECT_EQ(e.what.peer, peer);
    } else {
      EXPECT_EQ(s, status::done);
    }
    EXPECT_EQ(l.flush(), status::done);
    EXPECT_FALSE(ends.try_pop(e));
    w.barrier();
  });
}

TEST_P(Blocks, ABlockOutsideTheRegionFailsTheWhole) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    auto there = w.symmetric<std::byte>(5000);
    const rank peer = 1 - w.rank();
    const bytes data(100);
    for (const std::size_t wrong : {0u, 1u, 40u, 99u}) {
      std::vector<put_block> puts(100, {data, there.at(peer, 100)});
      for (std::size_t i = 0; i < puts.size(); ++i) puts[i].to.offset = i * 10;
      puts[wrong].to.offset = 4901;
      EXPECT_EQ(put_blocks(l, puts), status::out_of_bounds) << wrong;
    }
    const get_block nowhere{};
    bytes into(8);
    EXPECT_EQ(get_blocks(l, {{get_block{into, nowhere.from}}}), status::invalid);
    w.barrier();
  });
}

TEST_P(Blocks, MoreBlocksThanTheLaneHasRecordsGetThrough) {
  settings few = config();
  few.records = 16;
  run_ranks(2, few, [](world& w) {
    lane l(w);
    auto there = w.symmetric<std::uint64_t>(4096);
    const rank peer = 1 - w.rank();
    std::vector<std::uint64_t> data(4096);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = i * i;
    const stride every{.count = 4096, .here = 8, .there = 8};
    // Two at a time.
    flag first, second;
    std::vector<std::uint64_t> back(4096);
    const auto post = [&](flag& f, auto&& attempt) {
      status s = attempt(f);
      while (is_busy(s)) {
        l.poll();
        s = attempt(f);
      }
      return s;
    };
    const auto one = std::as_bytes(std::span(data).first(1));
    EXPECT_EQ(put_grid(l, one, there.at(peer), {&every, 1}), status::done);
    const status a = post(first, [&](flag& f) {
      return try_get_grid(l, std::as_writable_bytes(std::span(back).first(1)), there.at(peer),
                          {&every, 1}, f);
    });
    const status b = post(second, [&](flag& f) {
      return try_put_grid(l, one, there.at(peer), {&every, 1}, f);
    });
    EXPECT_EQ(a == status::posted ? l.wait(first) : a, status::done);
    EXPECT_EQ(b == status::posted ? l.wait(second) : b, status::done);
    EXPECT_EQ(back, data);
    w.barrier();
  });
}

/// `data` in blocks of random sizes, empty ones too.
template <class Byte>
std::vector<std::span<Byte>> in_blocks(std::span<Byte> data, std::mt19937& random) {
  std::vector<std::span<Byte>> all;
  while (!data.empty()) {
    const std::size_t size = std::min<std::size_t>(data.size(), random() % (data.size() / 3 + 2));
    all.push_back(data.first(size));
    data = data.subspan(size);
  }
  return all;
}

TEST_P(Blocks, MessagesAreGatheredAndScatteredAndMatchPlainOnes) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    std::mt19937 random(5);
    for (const std::size_t size : {0u, 7u, 3000u, 200'000u}) {
      const bytes data = pattern(size, size);
      bytes plain(size), scattered(size), reused = data;
      if (w.rank() == 0) {
        const auto blocks = in_blocks<const std::byte>(reused, random);
        flag sent;
        status s = status::busy_queue;
        while (is_busy(s)) s = try_send_blocks(l, 1, 1, blocks, sent);
        std::ranges::fill(reused, std::byte{0});  // they are the caller's again
        EXPECT_EQ(s == status::posted ? l.wait(sent) : s, status::done);
        EXPECT_EQ(send_blocks(l, 1, 1, in_blocks<const std::byte>(data, random)), status::done);
        EXPECT_EQ(l.send(1, 1, data), status::done);
      } else {
        EXPECT_EQ(l.recv(0, 1, plain).bytes, size);
        EXPECT_EQ(plain, data);
        for (int i = 0; i < 2; ++i) {
          std::ranges::fill(scattered, std::byte{0});
          const outcome o = recv_blocks(l, 0, 1, in_blocks<std::byte>(scattered, random));
          EXPECT_EQ(o.code, status::done);
          EXPECT_EQ(o.bytes, size);
          EXPECT_EQ(o.peer, 0);
          EXPECT_EQ(scattered, data);
        }
      }
    }
    w.barrier();
  });
}

TEST_P(Blocks, AShortReceiveIsFilledAndALongOneOnlyAsFarAsTheMessageGoes) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    const bytes data = pattern(50'000);
    if (w.rank() == 0) {
      EXPECT_EQ(l.send(1, 1, data), status::done);
      EXPECT_EQ(l.send(1, 1, data), status::done);
    } else {
      bytes a(20'000), b(10'000), c(40'000);
      const std::array<std::span<std::byte>, 2> few{a, b};
      EXPECT_EQ(recv_blocks(l, 0, 1, few).code, status::truncated);
      EXPECT_TRUE(std::ranges::equal(a, std::span(data).first(20'000)));
      EXPECT_TRUE(std::ranges::equal(b, std::span(data).subspan(20'000, 10'000)));
      const std::array<std::span<std::byte>, 3> many{a, b, c};
      EXPECT_EQ(recv_blocks(l, 0, 1, many).bytes, 50'000u);
      EXPECT_TRUE(std::ranges::equal(std::span(c).first(20'000), std::span(data).last(20'000)));
      EXPECT_TRUE(all_are(std::span(c).subspan(20'000), std::byte{0}));
    }
    w.barrier();
  });
}

void hear(void* context, lane&, const call_message& m) noexcept {
  auto& good = *static_cast<std::atomic<int>*>(context);
  good += is_pattern(m.payload, m.payload.size()) && is_pattern(m.header, 64) ? 1 : 100;
}

TEST_P(Blocks, CallsAreGatheredWithTheirHeader) {
  run_ranks(2, config(), [](world& w) {
    std::atomic<int> good{0};
    w.set_handler(4, &hear, &good);
    w.barrier();
    lane l(w);
    std::mt19937 random(9);
    for (const std::size_t size : {0u, 90u, 300'000u}) {
      const bytes data = pattern(size, size);
      EXPECT_EQ(call_blocks(l, 1 - w.rank(), 4, pattern(32, 64),
                            in_blocks<const std::byte>(data, random)),
                status::done);
    }
    while (good < 3) l.poll();
    EXPECT_EQ(good, 3);
    w.barrier();
  });
}

TEST_P(Blocks, AScatteredReceiveIsTakenBackByItsCompletion) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    bytes into(8);
    const std::array<std::span<std::byte>, 1> block{into};
    flag other, ended;
    EXPECT_EQ(try_recv_blocks(l, any_source, 1, block, ended), status::posted);
    status s = status::busy_lane;
    while (is_busy(s)) s = l.try_cancel(other);
    EXPECT_EQ(s, status::not_found);
    s = status::busy_lane;
    while (is_busy(s)) s = l.try_cancel(ended);
    EXPECT_EQ(s, status::done);
    EXPECT_EQ(l.wait(ended), status::canceled);
    EXPECT_EQ(recv_blocks(l, 2, 1, block).code, status::invalid);
    w.barrier();
  });
}

task<status> there_and_back(async_lane l, symmetric<std::byte>& there, rank peer,
                            std::span<const std::byte> data, std::span<std::byte> back) {
  const std::size_t half = data.size() / 2;
  const std::array<put_block, 2> puts{
      {{data.first(half), there.at(peer, half)}, {data.subspan(half), there.at(peer, 0)}}};
  if (const status s = co_await l.put_blocks(puts); s != status::done) co_return s;
  const std::array<get_block, 1> whole{{{back, there.at(peer, 0)}}};
  if (const status s = co_await l.get_blocks(whole); s != status::done) co_return s;
  EXPECT_TRUE(std::ranges::equal(back.first(half), data.subspan(half)));
  const auto distance = static_cast<std::ptrdiff_t>(half);
  const stride swapped{.count = 2, .here = -distance, .there = distance};
  if (const status s = co_await l.put_grid(data.subspan(half), there.at(peer), {&swapped, 1});
      s != status::done)
    co_return s;
  const stride straight{.count = 2, .here = distance, .there = distance};
  co_return co_await l.get_grid(back.first(half), there.at(peer), {&straight, 1});
}

TEST_P(Blocks, AreAwaited) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    constexpr std::size_t size = 40'000;
    auto there = w.symmetric<std::byte>(size);
    const rank peer = 1 - w.rank();
    const bytes data = pattern(size, 3);
    bytes back(size);
    flag ended;
    spawn(there_and_back(async_lane(l), there, peer, data, back), ended);
    EXPECT_EQ(l.wait(ended), status::done);
    EXPECT_TRUE(
        std::ranges::equal(std::span(back).first(size / 2), std::span(data).last(size / 2)));
    w.barrier();
  });
}

task<status> talk(async_lane l, rank peer, std::span<const std::byte> data) {
  bytes into(data.size());
  const std::size_t third = data.size() / 3;
  const std::array<std::span<const std::byte>, 2> out{data.first(third), data.subspan(third)};
  const std::array<std::span<std::byte>, 2> in{std::span(into).first(2 * third),
                                               std::span(into).subspan(2 * third)};
  const auto [sent, came] =
      co_await when_all(l.send_blocks(peer, 1, out), l.recv_blocks(peer, 1, in));
  EXPECT_EQ(came.code, status::done);
  EXPECT_EQ(came.bytes, data.size());
  EXPECT_TRUE(std::ranges::equal(into, data));
  if (sent != status::done) co_return sent;
  co_return co_await l.call_blocks(peer, 4, pattern(32, 64), out);
}

TEST_P(Blocks, OfMessagesAreAwaited) {
  run_ranks(2, config(), [](world& w) {
    std::atomic<int> good{0};
    w.set_handler(4, &hear, &good);
    w.barrier();
    lane l(w);
    const bytes data = pattern(90'000, 90'000);
    flag ended;
    spawn(talk(async_lane(l), 1 - w.rank(), data), ended);
    EXPECT_EQ(l.wait(ended), status::done);
    while (good < 1) l.poll();
    EXPECT_EQ(good, 1);
    w.barrier();
  });
}

TEST(BlockShapes, EmptyOnesAreDoneAndImpossibleOnesInvalid) {
  run_ranks(1, settings_for("shm"), [](world& w) {
    lane l(w);
    auto mine = w.symmetric<std::byte>(64);
    const bytes data(8);
    const stride none{.count = 0, .here = 8, .there = 8};
    EXPECT_EQ(put_blocks(l, {}), status::done);
    EXPECT_EQ(put_grid(l, data, mine.at(0), {&none, 1}), status::done);
    EXPECT_EQ(put_grid(l, data, mine.at(0), {}), status::done);  // one block
    const stride back{.count = 3, .here = 0, .there = -32};
    EXPECT_EQ(put_grid(l, data, mine.at(0, 40), {&back, 1}), status::out_of_bounds);
    const std::vector<stride> nine(9);
    EXPECT_EQ(put_grid(l, data, mine.at(0), nine), status::invalid);
    const std::array<stride, 2> endless{{{.count = std::size_t{1} << 40}, {.count = 1u << 30}}};
    EXPECT_EQ(put_grid(l, data, mine.at(0), endless), status::invalid);
    const std::array<stride, 3> nothing{
        {{.count = std::size_t{1} << 40}, {.count = 1u << 30}, {.count = 0}}};
    EXPECT_EQ(put_grid(l, data, mine.at(0), nothing), status::done);
  });
}

}  // namespace
}  // namespace heddle::test
