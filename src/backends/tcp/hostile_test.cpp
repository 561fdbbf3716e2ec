// SPDX-License-Identifier: BSD-3-Clause
// hostile_test.cpp - clients that do not keep the rules: strangers, liars, and peers gone mad.
#include <algorithm>
#include <random>

#include "backends/tcp/acceptor.h"
#include "backends/tcp/raw_client.h"

namespace heddle::transport::tcp {
namespace {

using bytes = std::vector<std::byte>;

/// Rank 0 of two is real; the tests play rank 1.
struct Hostile : testing::Test {
  test_job job{2};
  test_node& real = job[0];

  void SetUp() override { job.nodes.pop_back(); }

  /// The real rank still talks to a client that keeps the rules.
  void expect_unharmed(rank as = 1) {
    if (!real.lost.empty()) return;
    raw_client good(real);
    ASSERT_TRUE(good.introduce(job, as, 0));
    std::array<std::byte, 8> head;
    write_message(head.data(), 0);
    good.say(head);
    ASSERT_TRUE(job.until([&] { return !real.messages.empty(); }));
  }
  /// A peer that has proved itself, and then says `stream`, is hung up on and lost.
  void expect_loss(std::span<const std::byte> stream) {
    raw_client mad(real);
    ASSERT_TRUE(mad.introduce(job, 1, 0));
    mad.say(stream);
    ASSERT_TRUE(job.until([&] { return real.lost == std::vector<rank>{1}; }));
    EXPECT_TRUE(mad.closed());
    EXPECT_TRUE(real.messages.empty());
  }
};

TEST_F(Hostile, RandomBytesAreHungUpOnAndTouchNothing) {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    raw_client c(real);
    bytes noise(1 + random() % 500);
    std::ranges::generate(noise, [&] { return static_cast<std::byte>(random()); });
    c.say(noise);
    if (noise.size() < hello_bytes) continue;
    ASSERT_TRUE(job.until([&] { return c.closed(); }));
    EXPECT_TRUE(c.hear().empty());
  }
  expect_unharmed();
}

TEST_F(Hostile, AWrongSecretIsHungUpOnAfterItsProofBeforeItsFirstFrame) {
  raw_client c(real);
  constexpr std::array<std::byte, 32> guess{std::byte{9}};
  ASSERT_TRUE(c.introduce(job, 1, 0, 0, guess));
  std::array<std::byte, 8> head;
  write_message(head.data(), 0);
  c.say(head);
  ASSERT_TRUE(job.until([&] { return c.closed(); }));
  EXPECT_TRUE(real.messages.empty());
  EXPECT_TRUE(real.lost.empty());
  expect_unharmed();
}

TEST_F(Hostile, AReflectedProofProvesNothing) {
  raw_client c(real);
  const auto mine = encode({.from = 1, .random = fresh_nonce()});
  c.say(mine);
  const std::size_t wanted = hello_bytes + proof_bytes;
  ASSERT_TRUE(job.until([&] { return c.hear().size() == wanted; }));
  const bytes heard = c.hear();
  c.say(std::span(heard).subspan(hello_bytes));  // its own proof back
  ASSERT_TRUE(job.until([&] { return c.closed(); }));
  expect_unharmed();
}

TEST_F(Hostile, ARecordedHandshakeCannotBeReplayed) {
  bytes recorded;
  {
    raw_client c(real);
    const auto mine = encode({.from = 1, .random = fresh_nonce()});
    c.say(mine);
    ASSERT_TRUE(job.until([&] { return c.hear().size() == 96; }));
    hello_image theirs;
    const bytes heard = c.hear();
    std::copy_n(heard.begin(), theirs.size(), theirs.begin());
    const auto proof = prove(test_secret, role::initiator, mine, theirs);
    recorded.assign(mine.begin(), mine.end());
    recorded.insert(recorded.end(), proof.begin(), proof.end());
  }
  raw_client again(real);
  again.say(recorded);
  ASSERT_TRUE(job.until([&] { return again.closed(); }));
}

TEST_F(Hostile, HellosForOthersOrFromNobodyAreHungUpOn) {
  for (const hello& h : {hello{.from = 1, .to = 1}, hello{.from = 2}, hello{.from = ~0u},
                         hello{.from = 1, .from_lane = 256}, hello{.to_lane = 256, .from = 1}}) {
    raw_client c(real);
    c.say(encode(h));
    ASSERT_TRUE(job.until([&] { return c.closed(); }));
    EXPECT_TRUE(c.hear().empty());
  }
  expect_unharmed();
}

TEST_F(Hostile, ManySilentClientsAreBoundedAndDoNotKeepOthersOut) {
  std::vector<std::unique_ptr<raw_client>> silent;
  for (std::size_t i = 0; i < acceptor::most_strangers + 100; ++i) {
    silent.push_back(std::make_unique<raw_client>(real));
    if (i % 50 == 0) job.pump();
  }
  expect_unharmed();
  ASSERT_TRUE(job.until([&] {  // and they are all shown out in the end
    return std::ranges::all_of(silent, [](auto& c) { return c->closed(); });
  }));
}

TEST_F(Hostile, GarbageAfterTheHandshakeLosesThePeer) {
  expect_loss(bytes(100, std::byte{0xee}));
}

TEST_F(Hostile, AHugeLengthLosesThePeer) {
  bytes b(8);
  write_message(b.data(), 0xffff'ffff);
  expect_loss(b);
}

TEST_F(Hostile, AHigherRankThatChoosesIsLost) {
  bytes b(common_header);
  write_chosen(b.data());
  expect_loss(b);
}

TEST(HostileChooser, IsLostWhenItSaysAnythingBeforeItHasChosen) {
  test_job job(2);
  job.nodes.erase(job.nodes.begin());  // rank 1 is real; the test plays rank 0
  raw_client mad(job[0]);
  ASSERT_TRUE(mad.introduce(job, 0, 1));
  bytes b(common_header);
  write_message(b.data(), 0);
  mad.say(b);
  ASSERT_TRUE(job.until([&] { return job[0].lost == std::vector<rank>{0}; }));
  EXPECT_TRUE(job[0].messages.empty());
}

TEST(HostileChooser, MayOfferOneConnectionOnly) {
  test_job job(2);
  job.nodes.erase(job.nodes.begin());
  raw_client first(job[0]), second(job[0]);
  ASSERT_TRUE(first.introduce(job, 0, 1));
  for (int i = 0; i < 100; ++i) job.pump();
  ASSERT_TRUE(second.introduce(job, 0, 1));
  ASSERT_TRUE(job.until([&] { return second.closed(); }));
  EXPECT_FALSE(first.closed());
  EXPECT_TRUE(job[0].lost.empty());
}

TEST_F(Hostile, AcknowledgementsOfNothingLoseThePeer) {
  bytes b(8);
  write_put_ack(b.data(), status::done, 1);
  expect_loss(b);
}

TEST_F(Hostile, RepliesToNothingLoseThePeer) {
  bytes b(16);
  write_reply(b.data(), status::done, 0, 0);
  expect_loss(b);
}

TEST_F(Hostile, DataForNothingLosesThePeer) {
  bytes b(24);
  write_get_data(b.data(), flag_whole, 12345, 8);
  expect_loss(b);
}

TEST_F(Hostile, PutsOutsideRegionsAreAnsweredAndWriteNothing) {
  bytes memory(64);
  const memory::region_ref ref = real.regions.add(memory, rights::all).ref;
  raw_client c(real);
  ASSERT_TRUE(c.join(job, 1, 0));
  std::size_t puts = 0;
  const auto put = [&](std::uint32_t slot, std::uint32_t generation, std::uint64_t offset,
                       std::uint32_t size) {
    bytes b(24 + size, std::byte{0xff});
    write_put(b.data(), flag_last, slot, generation, offset, size);
    c.say(b);
    ++puts;
  };
  put(ref.slot, ref.generation, 60, 8);
  put(ref.slot, ref.generation, ~std::uint64_t{0}, 8);
  put(ref.slot, ref.generation, 0, 5000);
  put(ref.slot, ref.generation + 1, 0, 8);
  put(~0u, ~0u, 0, 8);
  put(0, 0, 0, 8);
  std::size_t answered = 0;
  ASSERT_TRUE(job.until([&] {
    answered = 0;
    const bytes said = c.hear();
    for (std::size_t at = 0; at + 8 <= said.size(); at += 8) {
      const auto p = parse_frame(std::span(said).subspan(at));
      EXPECT_EQ(p.head.kind, frame_kind::put_ack);
      EXPECT_NE(p.head.code, status::done);
      answered += p.head.count;
    }
    return answered == puts;
  }));
  EXPECT_EQ(memory, bytes(64));
  EXPECT_TRUE(real.lost.empty());
}

TEST_F(Hostile, DataBeyondAGetsEndLosesThePeer) {
  std::vector<std::byte> into(8), guard(64);
  raw_client c(real);
  ASSERT_TRUE(c.join(job, 1, 0));
  test_op get = get_op(1, {1, 1}, 0, into);
  get.number = 1;
  ASSERT_EQ(job.post(0, get), status::posted);
  ASSERT_TRUE(job.until([&] { return c.hear().size() == 32; }));
  const auto asked = parse_frame(c.hear());
  bytes b(16 + 9, std::byte{0xff});
  write_get_data(b.data(), 0, asked.head.id, 9);
  c.say(b);
  ASSERT_TRUE(job.until([&] { return real.lost.size() == 1; }));
  EXPECT_EQ(real.ended.at(1), status::peer_lost);
  EXPECT_EQ(into, bytes(8));
}

TEST_F(Hostile, AnAnswerThatClaimsToBeCompleteButIsNotLosesThePeer) {
  std::vector<std::byte> into(8);
  raw_client c(real);
  ASSERT_TRUE(c.join(job, 1, 0));
  test_op get = get_op(1, {1, 1}, 0, into);
  get.number = 1;
  ASSERT_EQ(job.post(0, get), status::posted);
  ASSERT_TRUE(job.until([&] { return c.hear().size() == 32; }));
  bytes b(16);
  write_reply(b.data(), status::done, parse_frame(c.hear()).head.id, 0);
  c.say(b);
  ASSERT_TRUE(job.until([&] { return real.lost.size() == 1; }));
  EXPECT_EQ(real.ended.at(1), status::peer_lost);
}

TEST(HostileAnswer, EndsOnlyWhatWasAskedOnItsOwnConnectionAndOnce) {
  test_job job(3);
  job.nodes.resize(1);  // the test plays ranks 1 and 2
  raw_client asked(job[0]), meddler(job[0]);
  ASSERT_TRUE(asked.join(job, 1, 0) && meddler.join(job, 2, 0));
  std::uint64_t old = 0;
  test_op add = atomic_at(1, {1, 1}, 0, 1, std::as_writable_bytes(std::span(&old, 1)));
  add.number = 1;
  ASSERT_EQ(job.post(0, add), status::posted);
  ASSERT_TRUE(job.until([&] { return asked.hear().size() == 40; }));
  bytes answer(16);
  write_reply(answer.data(), status::done, parse_frame(asked.hear()).head.id, 7);
  meddler.say(answer);
  ASSERT_TRUE(job.until([&] { return job[0].lost == std::vector<rank>{2}; }));
  EXPECT_TRUE(job[0].ended.empty());
  asked.say(answer);
  ASSERT_TRUE(job.until([&] { return job[0].ended.contains(1); }));
  EXPECT_EQ(job[0].ended.at(1), status::done);
  EXPECT_EQ(old, 7u);
  asked.say(answer);
  ASSERT_TRUE(job.until([&] { return job[0].lost == std::vector<rank>{2, 1}; }));
}

TEST_F(Hostile, MoreGetsThanTheWindowAllowsLoseThePeer) {
  bytes memory(1024 * 1024);
  const memory::region_ref ref = real.regions.add(memory, rights::all).ref;
  raw_client c(real);
  ASSERT_TRUE(c.introduce(job, 1, 0));
  std::array<std::byte, 32> get;
  write_get(get.data(), 1, ref.slot, ref.generation, 0, memory.size());
  bytes all;
  for (std::size_t i = 0; i < request_window + 50; ++i)
    all.insert(all.end(), get.begin(), get.end());
  c.say(all);  // and reads nothing of what it asked for
  ASSERT_TRUE(job.until([&] { return real.lost.size() == 1; }));
}

TEST_F(Hostile, FailingPutsWhoseAnswersNobodyReadsAreBounded) {
  raw_client c(real);
  ASSERT_TRUE(c.introduce(job, 1, 0));
  // Alternating outcomes, so that acknowledgements cannot be counted together.
  bytes memory(8), two(48);
  const memory::region_ref ref = real.regions.add(memory, rights::all).ref;
  write_put(two.data(), flag_last, 9, 9, 0, 0);
  write_put(two.data() + 24, flag_last, ref.slot, ref.generation, 0, 0);
  bytes all;
  for (int i = 0; i < 500; ++i) all.insert(all.end(), two.begin(), two.end());
  const int small = 4096;  // so that the socket does not hold it all
  ::setsockopt(c.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  ASSERT_TRUE(job.until([&] {
    for (int i = 0; i < 20; ++i) c.say(all);
    return real.lost.size() == 1;
  }));
}

TEST_F(Hostile, ASecondConnectionForTheSameRailIsTurnedAway) {
  raw_client first(real), second(real);
  ASSERT_TRUE(first.introduce(job, 1, 0));
  job.pump();
  ASSERT_TRUE(second.introduce(job, 1, 0));
  ASSERT_TRUE(job.until([&] { return second.closed(); }));
  EXPECT_FALSE(first.closed());
  EXPECT_TRUE(real.lost.empty());
}

TEST_F(Hostile, LanesThatNobodyOpensAreNamedOnceAndKeptBounded) {
  raw_client c(real);
  ASSERT_TRUE(c.introduce(job, 1, 0, 17));
  std::array<std::byte, 8> head;
  write_message(head.data(), 0);
  c.say(head);
  ASSERT_TRUE(job.until([&] { return !real.wanted.empty(); }));
  EXPECT_EQ(real.wanted, std::vector<int>{17});
  EXPECT_FALSE(c.closed());
  real.lane.reset();
  real.lane = real.dev->make_endpoint(17);
  ASSERT_TRUE(job.until([&] { return real.messages.size() == 1; }));
}

TEST(HostileAddress, TotalAddressParserRefusesEveryDamage) {
  test_job job(2);
  const auto good = job[1].dev->address();
  ASSERT_LE(good.size(), 512u);
  EXPECT_EQ(job[0].dev->add_peer(1, good, true), "");
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(job[0].dev->add_peer(1, std::span(good).first(n), true), "") << n;
  for (const std::size_t at : {0u, 1u, 2u, 3u}) {
    auto bad = good;
    bad[at] ^= std::byte{0x40};
    EXPECT_NE(job[0].dev->add_peer(1, bad, true), "") << at;
  }
  auto portless = good;
  portless[4] = portless[5] = std::byte{0};
  EXPECT_NE(job[0].dev->add_peer(1, portless, true), "");
  auto longer = good;
  longer.resize(600);
  EXPECT_NE(job[0].dev->add_peer(1, longer, true), "");
  EXPECT_NE(job[0].dev->add_peer(2, good, true), "");
  EXPECT_NE(job[0].dev->add_peer(-1, good, true), "");
  EXPECT_NE(job[0].dev->add_peer(1, good, false).find("loopback"), std::string::npos);
}

}  // namespace
}  // namespace heddle::transport::tcp
