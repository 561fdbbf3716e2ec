// SPDX-License-Identifier: BSD-3-Clause
// flood_test.cpp - a sender much faster than its receiver: memory stays bounded, nothing is lost
// (I6), and other lanes are served (I16).
#include <heddle/heddle.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "stress/ways.h"
#include "support/resident.h"

namespace heddle::test {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t message_bytes = 8000;
constexpr std::size_t most_messages = 50'000;  // 400 MB, if anybody kept them all
constexpr std::size_t most_growth = std::size_t{64} << 20;

/// Posts sends until none has been taken for a while. Returns how many were taken.
std::uint64_t flood(lane& l, rank to, std::span<const std::byte> data, counter& ended,
                    std::uint64_t& posted) {
  std::uint64_t taken = 0;
  for (auto last = clock::now();
       taken < most_messages && clock::now() - last < std::chrono::milliseconds(500);) {
    const status s = l.try_send(to, 1, data, ended);
    if (is_busy(s)) {
      l.poll();
      continue;
    }
    EXPECT_TRUE(accepted(s)) << name_of(s);
    posted += s == status::posted;
    ++taken;
    last = clock::now();
  }
  return taken;
}

TEST_P(Stress, I6AFloodFillsNoMemoryWhileTheReceiverTakesNothing) {
  run_ranks(2, config(), [](world& w) {
    lane l(w), other(w);  // the flood may have left neither credit nor records on its own
    w.barrier();
    std::uint64_t taken = 0;
    counter ended;
    std::uint64_t posted = 0;
    const auto data = pattern(message_bytes, 1);
    const std::size_t before = resident_bytes();
    if (w.rank() == 0) taken = flood(l, 1, data, ended, posted);
    w.barrier();
    if (!sanitized) {  // whose own bookkeeping is not ours to bound
      EXPECT_LT(resident_bytes(), before + most_growth) << taken << " messages taken";
    }
    if (w.rank() == 0) {
      ASSERT_EQ(other.send(1, 2, std::as_bytes(std::span(&taken, 1))), status::done);
      ASSERT_EQ(l.wait(ended, posted), status::done);
      return;
    }
    ASSERT_EQ(other.recv(0, 2, std::as_writable_bytes(std::span(&taken, 1))).code, status::done);
    EXPECT_GT(taken, 0u);
    std::vector<std::byte> into(message_bytes);
    for (std::uint64_t i = 0; i < taken; ++i) {
      const outcome o = l.recv(0, 1, into);
      ASSERT_EQ(o.code, status::done);
      ASSERT_EQ(o.bytes, message_bytes);
      ASSERT_EQ(std::memcmp(into.data(), data.data(), message_bytes), 0);
    }
  });
}

TEST_P(Stress, I6AFloodOfNotificationsIsBusyAndLosesNothing) {
  run_ranks(2, config(), [this](world& w) {
    lane l(w), other(w);
    const auto word = w.symmetric<std::uint64_t>(1);
    struct {
      std::atomic<std::uint64_t> heard = 0, sum = 0;  // handlers run on several threads
    } told;
    constexpr handler_id h = 3;
    w.set_handler(
        h,
        [](void* context, lane&, const call_message& m) noexcept {
          auto& t = *static_cast<decltype(told)*>(context);
          std::uint64_t number = 0;
          std::memcpy(&number, m.header.data(), sizeof number);
          t.sum += number;
          ++t.heard;
        },
        &told);
    w.barrier();
    const auto many = static_cast<std::uint64_t>(amount(300'000, 2000));
    std::uint64_t one = 1;
    counter ended;
    std::uint64_t posted = 0;
    if (w.rank() == 0) {
      const auto data = std::as_bytes(std::span(&one, 1));
      for (std::uint64_t i = 0; i < many;) {
        const status s = l.try_put_notify(data, word.at(1), h, i, ended);
        ASSERT_TRUE(accepted(s) || is_busy(s)) << name_of(s) << " after " << i;
        posted += s == status::posted;
        accepted(s) ? void(++i) : void(l.poll());
      }
      ASSERT_EQ(l.wait(ended, posted), status::done);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it falls behind
      while (told.heard < many) l.poll();
      EXPECT_EQ(told.sum, many * (many - 1) / 2);
    }
    w.barrier();
  });
}

TEST_P(Stress, I16AFloodInOneTagLetsOtherTrafficThrough) {
  run_ranks(2, config(), [](world& w) {
    lane l(w), other(w);
    w.barrier();
    counter ended;
    std::uint64_t posted = 0, taken = 0;
    const auto data = pattern(message_bytes, 1);
    if (w.rank() == 0) taken = flood(l, 1, data, ended, posted);
    for (int i = 0; i < 50; ++i) {  // on another lane, both ways, while the first is clogged
      std::uint64_t value = 0;
      const auto into = std::as_writable_bytes(std::span(&value, 1));
      const auto number = static_cast<std::uint64_t>(i);
      if (w.rank() == 0) {
        ASSERT_EQ(other.send(1, 3, std::as_bytes(std::span(&number, 1))), status::done);
      }
      ASSERT_EQ(other.recv(1 - w.rank(), 3, into).code, status::done);
      EXPECT_EQ(value, number);
      if (w.rank() == 1) {
        ASSERT_EQ(other.send(0, 3, std::as_bytes(std::span(&number, 1))), status::done);
      }
    }
    if (w.rank() == 0) {
      ASSERT_EQ(other.send(1, 2, std::as_bytes(std::span(&taken, 1))), status::done);
      ASSERT_EQ(l.wait(ended, posted), status::done);
      return;
    }
    ASSERT_EQ(other.recv(0, 2, std::as_writable_bytes(std::span(&taken, 1))).code, status::done);
    std::vector<std::byte> into(message_bytes);
    for (std::uint64_t i = 0; i < taken; ++i) ASSERT_EQ(l.recv(0, 1, into).code, status::done);
  });
}

}  // namespace
}  // namespace heddle::test
