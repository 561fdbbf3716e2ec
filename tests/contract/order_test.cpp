// SPDX-License-Identifier: BSD-3-Clause
// order_test.cpp - what is promised between operations: a put is there before the send after it,
// and every op ends once, whatever else goes on.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <thread>

#include "contract/contract.h"
#include "support/pattern.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

using transport::op_kind;

TEST_P(Contract, ShowsAPutBeforeTheMessageSentAfterIt) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  if (!job.describe().send_after_put) GTEST_SKIP() << "this backend keeps no order";
  port &from = job[0].lane(), &to = job[1].lane();
  constexpr std::size_t most = 300'000;
  const auto there = job[1].allocate(most);
  std::vector<std::byte> source(most);
  std::uint32_t taken = 0;
  to.on_message = [&](rank, std::span<const std::byte> message) {
    std::array<std::uint32_t, 2> said{};  // round, bytes
    ASSERT_EQ(message.size(), sizeof said);
    std::memcpy(said.data(), message.data(), sizeof said);
    EXPECT_EQ(said[0], taken++);
    EXPECT_TRUE(is_pattern(there.bytes.first(said[1]), said[0])) << "round " << said[0];
  };
  const auto rounds = static_cast<std::uint32_t>(scaled(150, 30));
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::array<std::uint32_t, 2> message{
        round, static_cast<std::uint32_t>(round % 3 == 0 ? most : round * 37)};
    const std::span<std::byte> data = std::span(source).first(message[1]);
    fill_pattern(data, round);
    std::vector ops{put_op(1, there.ref, 0, data), send_op(1, std::as_bytes(std::span(message)))};
    ASSERT_TRUE(job.run(from, ops));
    ASSERT_TRUE(job.until([&] { return taken == round + 1; }));
  }
}

TEST_P(Contract, ShowsManyPutsBeforeOneMessage) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  if (!job.describe().send_after_put) GTEST_SKIP() << "this backend keeps no order";
  port &from = job[0].lane(), &to = job[1].lane();
  constexpr std::size_t pieces = 50, piece = 3001;
  const auto there = job[1].allocate(pieces * piece);
  const auto data = pattern(pieces * piece, 8);
  const std::span<const std::byte> view(data);
  std::vector<op> ops;
  for (std::size_t i = 0; i < pieces; ++i)
    ops.push_back(put_op(1, there.ref, i * piece, view.subspan(i * piece, piece)));
  ops.push_back(send_op(1, {}));
  bool told = false;
  to.on_message = [&](rank, std::span<const std::byte>) {
    told = true;
    EXPECT_EQ(first_difference(there.bytes, 8), there.bytes.size());
  };
  ASSERT_TRUE(job.run(from, ops));
  ASSERT_TRUE(job.until([&] { return told; }));
}

TEST_P(Contract, BothSidesBeginAtOnceAndEveryMessageArrivesInOrder) {
  constexpr std::uint32_t messages = 30;
  for (int round = 0; round < 5; ++round) {
    group job(GetParam(), 2);
    std::array<std::uint32_t, 2> sent{}, taken{};
    for (rank r = 0; r < 2; ++r)
      job[r].lane().on_message = [&, r](rank from, std::span<const std::byte> message) {
        std::uint32_t number = 0;
        ASSERT_EQ(message.size(), sizeof number);
        std::memcpy(&number, message.data(), sizeof number);
        EXPECT_EQ(from, 1 - r);
        EXPECT_EQ(number, taken.at(static_cast<std::size_t>(r))++);
      };
    ASSERT_TRUE(job.until([&] {
      for (rank r = 0; r < 2; ++r) {
        std::uint32_t& next = sent.at(static_cast<std::size_t>(r));
        std::vector ops{send_op(1 - r, std::as_bytes(std::span(&next, 1)))};
        if (next < messages && job[r].lane().post(ops).accepted == 1) ++next;
      }
      return taken[0] == messages && taken[1] == messages;
    }));
  }
}

/// One rank of a job in which everybody does everything to everybody.
struct Mixer {
  node& me;
  int peers;
  std::minstd_rand random;
  std::vector<std::byte> source = pattern(200'000, 1);
  std::vector<std::byte> into = std::vector<std::byte>(200'000);
  std::uint64_t old = 0;
  std::vector<std::size_t> sent;
  std::size_t posted = 0;

  Mixer(node& n, int size)
      : me(n),
        peers(size),
        random(static_cast<unsigned>(n.self()) + 1),
        sent(static_cast<std::size_t>(size)) {}

  op any_op(const transport::traits& can, const std::vector<memory::region_ref>& refs) {
    const rank to = (me.self() + 1 + static_cast<rank>(random() % unsigned(peers - 1))) % peers;
    const auto ref = refs[static_cast<std::size_t>(to)];
    const std::size_t n = random() % 5 == 0 ? random() % source.size() : random() % 300;
    const auto kind = static_cast<op_kind>(random() % 4);
    const std::span<std::byte> word = std::as_writable_bytes(std::span(&old, 1));
    if ((can.native & only(kind)) == 0 || kind == op_kind::send)
      return send_op(to, std::span(source).first(
                             std::min(n, can.max_message - sizeof(transport::message_head))));
    if (kind == op_kind::put) return put_op(to, ref, 8, std::span(source).first(n));
    if (kind == op_kind::get) return get_op(to, ref, 8, std::span(into).first(n));
    return atomic_operation(to, ref, 0, atomic_op::add, 8, 1, word);
  }
};

TEST_P(Contract, EndsEveryOpOnceUnderMixedLoad) {
  constexpr int peers = 4;
  const auto each = static_cast<std::size_t>(scaled(1500, 150));
  group job(GetParam(), peers);
  std::vector<Mixer> all;
  std::vector<memory::region_ref> refs;
  for (rank r = 0; r < peers; ++r) {
    all.emplace_back(job[r], peers);
    refs.push_back(job[r].allocate(200'008).ref);
  }
  ASSERT_TRUE(job.until([&] {
    bool finished = true;
    for (Mixer& m : all) {
      port& p = m.me.lane();
      std::vector<op> ops;
      for (int i = 0; i < 8; ++i) ops.push_back(m.any_op(job.describe(), refs));
      if (m.posted < each && p.in_flight() < 200) {
        const auto r = p.post(ops);
        m.posted += r.accepted;
        for (const op& o : std::span(ops).first(r.accepted))
          if (o.kind == op_kind::send) ++m.sent[static_cast<std::size_t>(o.whom.to)];
      }
      finished = finished && m.posted >= each && p.in_flight() == 0;
    }
    return finished;
  }));
  for (rank r = 0; r < peers; ++r) {
    port& p = job[r].lane();
    EXPECT_EQ(p.ended_with(status::done), p.ended());
    std::size_t meant_for_it = 0;
    for (const Mixer& m : all) meant_for_it += m.sent[static_cast<std::size_t>(r)];
    EXPECT_TRUE(job.until([&] { return p.inbox.size() == meant_for_it; }));
    for (const received& m : p.inbox) EXPECT_TRUE(is_pattern(m.bytes, 1));
  }
}

}  // namespace
}  // namespace heddle::test
