// SPDX-License-Identifier: BSD-3-Clause
// order_test.cpp - a great many messages: each once, and in order per lane, peer and tag (I5). And
// what has no order: a wire that makes use of that shows it.
#include <heddle/heddle.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

constexpr int lanes = 2, tags = 2;  // one stream, and at each end one thread, for each of both
constexpr std::size_t window = 64;

using message = std::array<std::uint64_t, 2>;  // stream, number

std::span<const std::byte> bytes_of(const message& m) {
  return std::as_bytes(std::span(m));
}

/// Sends `count` messages, many at a time.
void send_stream(lane& l, rank to, tag t, std::uint64_t stream, std::uint64_t count) {
  std::array<message, window> messages;
  counter sent;
  std::uint64_t posted = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % window == 0) {  // the buffers are ours again
      ASSERT_EQ(l.wait(sent, posted), status::done);
    }
    messages[i % window] = {stream, i};
    status s = l.try_send(to, t, bytes_of(messages[i % window]), sent);
    while (is_busy(s)) {
      l.poll();
      s = l.try_send(to, t, bytes_of(messages[i % window]), sent);
    }
    ASSERT_TRUE(accepted(s)) << name_of(s);
    if (s == status::posted) ++posted;
  }
  ASSERT_EQ(l.wait(sent, posted), status::done);
}

/// Takes them with a window of receives; the n-th receive has to get the n-th message.
void receive_stream(lane& l, rank from, tag t, std::uint64_t stream, std::uint64_t count) {
  std::array<message, window> into;
  auto flags = std::make_unique<std::array<flag, window>>();
  const auto post = [&](std::uint64_t i) {
    flag& f = (*flags)[i % window];
    f.reset();
    const auto buffer = std::as_writable_bytes(std::span(into[i % window]));
    status s = l.try_recv(from, t, buffer, f);
    while (is_busy(s)) {
      l.poll();
      s = l.try_recv(from, t, buffer, f);
    }
    return s == status::posted;
  };
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(window, count); ++i) ASSERT_TRUE(post(i));
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(l.wait((*flags)[i % window]), status::done);
    ASSERT_EQ(into[i % window], (message{stream, i}));
    ASSERT_TRUE(i + window >= count || post(i + window));
  }
}

TEST_P(Stress, I5AMillionMessagesArriveOnceAndInOrder) {
  const auto each = static_cast<std::uint64_t>(amount(1'000'000 / (lanes * tags), 1000));
  run_ranks(2, config(), [&](world& w) {
    std::vector<std::unique_ptr<lane>> paths;
    for (int i = 0; i < lanes; ++i) paths.push_back(std::make_unique<lane>(w));
    w.barrier();
    std::vector<std::thread> running;
    std::atomic<int> streams = lanes * tags;
    for (int s = 0; s < lanes * tags; ++s) {
      lane& l = *paths[static_cast<std::size_t>(s % lanes)];
      const auto t = static_cast<tag>(s / lanes);
      const auto stream = static_cast<std::uint64_t>(s);
      running.emplace_back([&, t, stream] {
        if (w.rank() == 0)
          send_stream(l, 1, t, stream, each);
        else
          receive_stream(l, 0, t, stream, each);
        --streams;
      });
    }
    // What a stream leaves behind that has ended: output, and the peer's acknowledgements.
    while (!has_executors() && streams != 0)
      if (w.idle_hook() == 0) std::this_thread::yield();
    for (std::thread& t : running) t.join();
    w.barrier();
    paths.clear();
  });
}

/// Puts to the other rank's `memory`, 64 at a time; gives their numbers in the order of their ends.
std::vector<std::uint64_t> ends_of_puts(lane& l, const remote_region& memory, std::uint64_t count) {
  std::vector<std::uint64_t> order;
  completion_queue ended(window);
  const auto data = pattern(100, 1);
  std::uint64_t posted = 0, delivered = 0;
  for (std::uint64_t i = 0; i < count || order.size() < posted;) {
    const bool room = i < count && delivered + window > posted;
    const status s =
        room ? l.try_put(data, memory.at(i % window * 100), ended.with(i)) : status::busy_records;
    i += accepted(s) ? 1 : 0;
    posted += s == status::posted ? 1 : 0;
    if (is_busy(s)) l.poll();
    for (completion_queue::entry e; ended.try_pop(e); ++delivered) order.push_back(e.cookie);
  }
  return order;
}

TEST_P(Stress, I5CompletionsHaveNoOrderAndAWireThatMixesThemUpShowsIt) {
  if (std::string_view(GetParam().faults).find("reorder") == std::string_view::npos)
    GTEST_SKIP() << "this wire is tidy";
  const auto count = static_cast<std::uint64_t>(amount(5000, 500));
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    std::vector<std::byte> own(window * 100);
    const region exposed = w.expose(own);
    auto keys = w.symmetric<key>(1);
    keys.local()[0] = exposed.key();
    w.barrier();
    key of_other;
    ASSERT_EQ(l.get(of_other, keys.at(1 - w.rank())), status::done);
    std::vector<std::uint64_t> order = ends_of_puts(l, w.import(of_other), count);
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end())) << order.size() << " ended";
    std::sort(order.begin(), order.end());
    EXPECT_EQ(std::adjacent_find(order.begin(), order.end()), order.end());
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
