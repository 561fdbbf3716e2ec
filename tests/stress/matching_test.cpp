// SPDX-License-Identifier: BSD-3-Clause
// matching_test.cpp - receives that race with messages (I13), cancels (I7) and each other.
#include <heddle/heddle.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "stress/ways.h"

namespace heddle::test {
namespace {

struct message {
  std::uint64_t number = 0;  // among those of its source and tag
  std::uint64_t size = 0;
};

/// A posted receive, until its end and after.
struct receive {
  rank from = any_source;
  tag_match tags = any_tag;
  message got;
  flag done;
};

constexpr tag tag_count = 4;

/// Sends messages of random tags in order; some of them large, so that they rendezvous.
void send_random(lane& l, rank to, int count) {
  std::minstd_rand random(static_cast<unsigned>(l.self()));
  std::array<std::uint64_t, tag_count> next{};
  std::vector<std::byte> data(200'000);
  for (int i = 0; i < count; ++i) {
    const tag t = random() % tag_count;
    const message m{next[t]++, random() % 20 == 0 ? data.size() : sizeof(message)};
    std::memcpy(data.data(), &m, sizeof m);
    ASSERT_EQ(l.send(to, t, std::span(data).first(m.size)), status::done);
  }
}

/// Receives into a place for whole messages, and keeps the part that says which one it was.
class Taker {
 public:
  Taker(lane& l, int ranks) : lane_(l), ranks_(ranks) {}

  void post_random() {
    receive& r = all_.emplace_back();
    if (random_() % 2 == 0) r.from = static_cast<rank>(1 + random_() % unsigned(ranks_ - 1));
    const tag t = random_() % tag_count;
    switch (random_() % 3) {
      case 0:
        r.tags = tag_match(t);
        break;
      case 1:
        r.tags = tag_match(t & 1, tag{1} | reserved_tag_bit);
        break;
      default:
        break;
    }
    post(r);
  }
  void post_any() { post(all_.emplace_back()); }

  /// Takes back what has not matched. Returns how many receives got a message.
  int cancel_rest() {
    for (receive& r : all_) {
      status s = status::not_found;
      while (!r.done.ready() && is_busy(s = lane_.try_cancel(r.done))) lane_.poll();
      (void)lane_.wait(r.done);
    }
    return matched();
  }
  [[nodiscard]] int matched() const {
    return static_cast<int>(std::count_if(all_.begin(), all_.end(), [](const receive& r) {
      return r.done.ready() && r.done.result().code != status::canceled;
    }));
  }
  void wait_all() {
    for (receive& r : all_) ASSERT_NE(lane_.wait(r.done), status::peer_lost);
  }

  /// Every message once, each by a receive that accepts it, and per source and tag in order.
  void check(int per_source) const {
    std::map<std::pair<rank, tag>, std::uint64_t> next;
    for (const receive& r : all_) {
      const outcome& o = r.done.result();
      if (o.code == status::canceled) continue;
      EXPECT_TRUE(o.code == status::done || o.code == status::truncated) << name_of(o.code);
      EXPECT_TRUE(r.from == any_source || r.from == o.peer);
      EXPECT_TRUE(r.tags.accepts(o.tag));
      EXPECT_EQ(r.got.number, (next[{o.peer, o.tag}]++)) << "from " << o.peer << " tag " << o.tag;
    }
    std::uint64_t total = 0;
    for (const auto& [stream, count] : next) total += count;
    EXPECT_EQ(total, static_cast<std::uint64_t>(per_source * (ranks_ - 1)));
  }

 private:
  void post(receive& r) {
    const auto into = std::as_writable_bytes(std::span(&r.got, 1));
    status s = lane_.try_recv(r.from, r.tags, into, r.done);
    while (is_busy(s)) {
      lane_.poll();
      s = lane_.try_recv(r.from, r.tags, into, r.done);
    }
    ASSERT_EQ(s, status::posted);
  }

  lane& lane_;
  const int ranks_;
  std::minstd_rand random_{7};
  std::deque<receive> all_;
};

TEST_P(Stress, I13WildcardsAndExactReceivesTakeEveryMessageOnceAndInOrder) {
  constexpr int ranks = 4;
  const int each = amount(2000, 100);
  run_ranks(ranks, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    if (w.rank() != 0) {
      send_random(l, 0, each);
      w.barrier();
      return;
    }
    Taker taker(l, ranks);
    for (int i = 0; i < each * (ranks - 1); ++i) taker.post_random();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int missing = each * (ranks - 1) - taker.cancel_rest();
    for (int i = 0; i < missing; ++i) taker.post_any();
    taker.wait_all();
    taker.check(each);
    w.barrier();
  });
}

TEST_P(Stress, I7ACancelEitherTakesTheReceiveBackOrTheMessageIsThere) {
  const int rounds = amount(5000, 200);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    if (w.rank() == 0) {
      for (std::uint64_t i = 0; i < std::uint64_t(rounds); ++i)
        ASSERT_EQ(l.send(1, 1, std::as_bytes(std::span(&i, 1))), status::done);
      return;
    }
    std::minstd_rand random(3);
    int canceled = 0;
    for (std::uint64_t expected = 0; expected < std::uint64_t(rounds);) {
      std::uint64_t got = ~std::uint64_t{0};
      flag done;
      status s = l.try_recv(0, 1, std::as_writable_bytes(std::span(&got, 1)), done);
      if (is_busy(s)) continue;
      ASSERT_EQ(s, status::posted);
      for (auto i = random() % 50; i != 0; --i) std::atomic_signal_fence(std::memory_order_seq_cst);
      while (!done.ready() && is_busy(s = l.try_cancel(done))) l.poll();
      (void)l.wait(done);
      const status end = done.result().code;
      ASSERT_TRUE(end == status::done || end == status::canceled) << name_of(end);
      if (end == status::canceled) {
        ++canceled;
        EXPECT_EQ(got, ~std::uint64_t{0}) << "a canceled receive was written to";
        continue;
      }
      ASSERT_EQ(got, expected++);
    }
    RecordProperty("canceled", canceled);
  });
}

TEST_P(Stress, AProbeTellsOfAMessageThatTheNextReceiveTakes) {
  const int rounds = amount(2000, 100);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    w.barrier();
    if (w.rank() == 0) {
      for (int i = 0; i < rounds; ++i) {
        const auto n = static_cast<std::size_t>(i) * 37 % 5000;
        ASSERT_EQ(l.send(1, static_cast<tag>(i % 3), pattern(n, std::uint64_t(i))), status::done);
      }
      return;
    }
    std::array<int, 3> next{0, 1, 2};
    std::vector<std::byte> into(5000);
    for (int i = 0; i < rounds; ++i) {
      outcome seen;
      while (l.try_probe(any_source, any_tag, seen) != status::done) std::this_thread::yield();
      const outcome o = l.recv(seen.peer, seen.tag, into);
      ASSERT_EQ(o.code, status::done);
      ASSERT_EQ(o.bytes, seen.bytes);
      int& number = next[o.tag];
      ASSERT_TRUE(is_pattern(std::span(into).first(o.bytes), std::uint64_t(number)));
      number += 3;
    }
  });
}

}  // namespace
}  // namespace heddle::test
