// SPDX-License-Identifier: BSD-3-Clause
// messages_test.cpp - sends: whole, once, in order, from and to everybody.
#include <algorithm>
#include <array>
#include <cstring>

#include "contract/contract.h"
#include "support/pattern.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

/// Sizes worth trying for something of up to `most` bytes.
std::vector<std::size_t> sizes_up_to(std::size_t most) {
  std::vector<std::size_t> sizes;
  for (const std::size_t s : {0,   1,   3,   7,    8,    9,    31,   63,   64,     65,
                              127, 255, 256, 1000, 4095, 4096, 4097, 8191, 65'535, 65'536})
    if (s < most) sizes.push_back(s);
  for (const std::size_t less : {9, 8, 1})
    if (most > less) sizes.push_back(most - less);
  sizes.push_back(most);
  return sizes;
}

/// What a test of order sends: the number of the message, then its pattern.
std::vector<std::byte> numbered(std::uint64_t number, std::size_t bytes) {
  auto message = pattern(std::max(bytes, sizeof number), number);
  std::memcpy(message.data(), &number, sizeof number);
  return message;
}

::testing::AssertionResult is_numbered(std::span<const std::byte> message, std::uint64_t number) {
  std::uint64_t found = 0;
  if (message.size() < sizeof found) return ::testing::AssertionFailure() << "too short";
  std::memcpy(&found, message.data(), sizeof found);
  if (found != number) return ::testing::AssertionFailure() << "message " << found << " came";
  for (std::size_t i = sizeof found; i < message.size(); ++i)
    if (message[i] != pattern_byte(number, i))
      return ::testing::AssertionFailure() << "byte " << i << " is wrong";
  return ::testing::AssertionSuccess();
}

TEST_P(Contract, DeliversMessagesOfEverySizeIntact) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  for (const std::size_t bytes : sizes_up_to(job.max_message())) {
    const auto data = pattern(bytes, bytes);
    std::vector ops{send_op(1, data)};
    ASSERT_TRUE(job.run(from, ops));
    ASSERT_TRUE(job.until([&] { return !to.inbox.empty(); })) << bytes;
    EXPECT_EQ(to.inbox[0].from, 0);
    ASSERT_EQ(to.inbox[0].bytes.size(), bytes);
    EXPECT_TRUE(is_pattern(to.inbox[0].bytes, bytes)) << bytes;
    to.inbox.clear();
  }
  EXPECT_EQ(from.ended_with(status::done), from.ended());
}

TEST_P(Contract, JoinsHeaderAndDataWhereverTheyAreSplit) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  const std::size_t most = job.max_message();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{200}, most})
    for (const std::size_t header : {0, 1, 8, 33, 64, 100}) {
      if (header > bytes) continue;
      const auto whole = pattern(bytes, header);
      const std::span<const std::byte> view(whole);
      std::vector ops{send_op(1, view.subspan(header), view.first(header))};
      ASSERT_TRUE(job.run(from, ops));
      ASSERT_TRUE(job.until([&] { return !to.inbox.empty(); }));
      EXPECT_EQ(to.inbox[0].bytes, whole) << bytes << " bytes, header " << header;
      to.inbox.clear();
    }
}

TEST_P(Contract, LetsTheBuffersOfAnAcceptedSendChange) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  const std::size_t bytes = std::min<std::size_t>(job.max_message(), 5000);
  std::vector<std::byte> header(8), data(bytes - 8);
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto message = numbered(i, bytes);
    std::copy_n(message.begin(), 8, header.begin());
    std::copy(message.begin() + 8, message.end(), data.begin());
    std::vector ops{send_op(1, data, header)};
    ASSERT_TRUE(job.post_all(from, ops));
    std::fill(header.begin(), header.end(), std::byte{0xdd});
    std::fill(data.begin(), data.end(), std::byte{0xdd});
  }
  ASSERT_TRUE(job.until([&] { return to.inbox.size() == 100; }));
  std::vector<bool> seen(100);
  for (const received& m : to.inbox) {
    std::uint64_t number = 0;
    std::memcpy(&number, m.bytes.data(), sizeof number);
    EXPECT_TRUE(is_numbered(m.bytes, number));
    ASSERT_LT(number, 100u);
    EXPECT_FALSE(seen[number]);
    seen[number] = true;
  }
}

/// `count` messages of mixed sizes and their bytes.
struct batch {
  std::vector<std::vector<std::byte>> messages;
  std::vector<op> ops;
  batch(rank to, std::uint64_t count, std::size_t most, std::uint64_t first = 0) {
    for (std::uint64_t i = first; i < first + count; ++i)
      messages.push_back(numbered(i, (i * 7919) % std::min<std::size_t>(most, 3000)));
    for (const auto& m : messages) ops.push_back(send_op(to, m));
  }
};

TEST_P(Contract, KeepsMessagesFromOnePeerInOrder) {
  group job(GetParam(), 2);
  if (!job.describe().send_after_put) GTEST_SKIP() << "this backend keeps no order";
  port &from = job[0].lane(), &to = job[1].lane();
  const auto count = static_cast<std::uint64_t>(scaled(3000, 300));
  batch sent(1, count, job.max_message());
  ASSERT_TRUE(job.run(from, sent.ops));
  ASSERT_TRUE(job.until([&] { return to.inbox.size() == count; })) << to.inbox.size();
  for (std::uint64_t i = 0; i < count; ++i)
    ASSERT_TRUE(is_numbered(to.inbox[i].bytes, i)) << "at " << i;
}

TEST_P(Contract, StartsAPrefixOfABurstAndTakesTheRestLater) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  batch first(1, 1, 100);
  ASSERT_TRUE(job.run(from, first.ops));  // connects
  ASSERT_TRUE(job.until([&] { return to.inbox.size() == 1; }));

  const std::size_t bytes = std::min<std::size_t>(job.max_message(), 4000);
  std::vector<std::vector<std::byte>> messages;
  for (std::uint64_t i = 1; i <= 4000; ++i) messages.push_back(numbered(i, bytes));
  std::vector<op> ops;
  for (const auto& m : messages) ops.push_back(send_op(1, m));
  std::span<op> rest(ops);
  for (int tries = 0; tries < 100 && !rest.empty(); ++tries) {  // and nobody takes them out
    rest = rest.subspan(from.post(rest).accepted);
    (void)from.poll();
  }
  const std::size_t started = ops.size() - rest.size();
  EXPECT_GT(started, 0u);
  ASSERT_TRUE(job.run(from, rest));
  ASSERT_TRUE(job.until([&] { return to.inbox.size() == 4001; })) << to.inbox.size();
  if (!job.describe().send_after_put) return;
  for (std::uint64_t i = 1; i <= 4000; ++i) ASSERT_TRUE(is_numbered(to.inbox[i].bytes, i));
}

TEST_P(Contract, KeepsTheBytesOfAMessageUntilTheNextPollWhileMoreArrive) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  const auto count = static_cast<std::uint64_t>(scaled(1000, 100));
  batch sent(1, count, job.max_message());
  std::span<op> rest(sent.ops);
  ASSERT_TRUE(job.until([&] {  // a port checks what it was lent before it polls again
    rest = rest.subspan(from.post(rest).accepted);
    (void)from.poll();
    return to.inbox.size() == count;
  }));
}

TEST_P(Contract, PollsIntoTheRoomItIsGiven) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  batch sent(1, 60, 500);
  ASSERT_TRUE(job.post_all(from, sent.ops));
  const auto polled_one_by_one = [&] {
    EXPECT_EQ(to.poll(0), 0u);
    EXPECT_LE(to.poll(1), 1u);
    return to.inbox.size() == 60;
  };
  ASSERT_TRUE(job.until(polled_one_by_one));
  ASSERT_TRUE(job.until([&] { return from.in_flight() == 0; }));
}

TEST_P(Contract, CarriesBothDirectionsAtOnce) {
  group job(GetParam(), 2);
  const auto count = static_cast<std::uint64_t>(scaled(2000, 200));
  std::array<batch, 2> sent{batch(1, count, 2000), batch(0, count, 2000)};
  std::array<std::span<op>, 2> rest{sent[0].ops, sent[1].ops};
  ASSERT_TRUE(job.until([&] {
    for (rank r = 0; r < 2; ++r) {
      auto& mine = rest[static_cast<std::size_t>(r)];
      mine = mine.subspan(job[r].lane().post(mine).accepted);
    }
    return rest[0].empty() && rest[1].empty();
  }));
  ASSERT_TRUE(job.until(
      [&] { return job[0].lane().inbox.size() == count && job[1].lane().inbox.size() == count; }));
  ASSERT_TRUE(
      job.until([&] { return job[0].lane().in_flight() == 0 && job[1].lane().in_flight() == 0; }));
}

/// The numbers of the messages in `inbox` from `peer`, in the order in which they came.
std::vector<std::uint64_t> numbers_from(const std::vector<received>& inbox, rank peer) {
  std::vector<std::uint64_t> numbers;
  for (const received& m : inbox) {
    if (m.from != peer) continue;
    std::uint64_t number = 0;
    std::memcpy(&number, m.bytes.data(), sizeof number);
    EXPECT_TRUE(is_numbered(m.bytes, number));
    numbers.push_back(number);
  }
  return numbers;
}

TEST_P(Contract, ConnectsEightPeersAllToAll) {
  constexpr int peers = 8;
  constexpr std::uint64_t each = 20;
  group job(GetParam(), peers);
  for (rank from = 0; from < peers; ++from)
    for (rank to = 0; to < peers; ++to) {
      if (from == to && !job.loops()) continue;
      batch sent(to, each, 1000);
      ASSERT_TRUE(job.run(job[from].lane(), sent.ops)) << from << " to " << to;
    }
  for (rank to = 0; to < peers; ++to)
    for (rank from = 0; from < peers; ++from) {
      if (from == to && !job.loops()) continue;
      const auto& inbox = job[to].lane().inbox;
      ASSERT_TRUE(job.until([&] { return numbers_from(inbox, from).size() == each; }));
    }
}

TEST_P(Contract, OpensConnectionsFromBothSidesAtOnce) {
  constexpr int peers = 6;
  group job(GetParam(), peers);
  const auto hello = numbered(7, 100);
  for (rank from = 0; from < peers; ++from) (void)job[from].lane();
  std::vector<std::vector<op>> todo(peers);
  for (rank from = 0; from < peers; ++from)
    for (rank to = 0; to < peers; ++to)
      if (from != to) todo[static_cast<std::size_t>(from)].push_back(send_op(to, hello));
  ASSERT_TRUE(job.until([&] {  // each rank tries every peer that is left, every time
    bool all = true;
    for (rank from = 0; from < peers; ++from) {
      auto& ops = todo[static_cast<std::size_t>(from)];
      std::erase_if(ops, [&](op& o) { return job[from].lane().post({&o, 1}).accepted == 1; });
      all = all && ops.empty();
    }
    return all;
  }));
  for (rank to = 0; to < peers; ++to)
    ASSERT_TRUE(job.until([&] { return job[to].lane().inbox.size() == peers - 1; })) << to;
  job.settle();
  for (rank to = 0; to < peers; ++to) EXPECT_EQ(job[to].lane().inbox.size(), peers - 1u);
}

TEST_P(Contract, TalksToItself) {
  group job(GetParam(), 2);
  if (!job.loops()) GTEST_SKIP() << "this backend leaves messages to oneself to others";
  port& self = job[1].lane();
  batch sent(1, 300, 2000);
  ASSERT_TRUE(job.run(self, sent.ops));
  ASSERT_TRUE(job.until([&] { return self.inbox.size() == 300; }));
  const auto numbers = numbers_from(self.inbox, 1);
  EXPECT_EQ(numbers.size(), 300u);
  if (job.describe().send_after_put) {
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  }
}

TEST_P(Contract, BecomesIdleOnceEverythingHasLeft) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  EXPECT_TRUE(from.inner().idle());
  batch sent(1, 500, 3000);
  ASSERT_TRUE(job.post_all(from, sent.ops));
  ASSERT_TRUE(job.until([&] { return from.inner().idle() && from.in_flight() == 0; }));
  ASSERT_TRUE(job.until([&] { return to.inbox.size() == 500; }));
  EXPECT_TRUE(from.inner().idle());
}

TEST_P(Contract, SaysWhichAddressesItCannotUse) {
  const std::array<std::byte, 32> secret{};
  node one(GetParam(), 0, 2, secret, {}), other(GetParam(), 1, 2, secret, {});
  const auto good = other.device().address();
  EXPECT_LE(good.size(), 512u);
  std::vector<std::byte> longer(good), cut(good);
  longer.resize(600, std::byte{0xff});
  cut.pop_back();
  EXPECT_NE(one.device().add_peer(1, {}, true), "");
  EXPECT_NE(one.device().add_peer(1, longer, true), "");
  EXPECT_NE(one.device().add_peer(1, cut, true), "");
  EXPECT_EQ(one.device().add_peer(1, good, true), "");
}

}  // namespace
}  // namespace heddle::test
