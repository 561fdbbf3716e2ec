// SPDX-License-Identifier: BSD-3-Clause
// encryption_test.cpp - jobs that encrypt: what is seen of them on the way, what becomes of changes
// there, and who is refused.
#include <algorithm>
#include <string_view>

#include "backends/tcp/relay.h"

namespace heddle::transport::tcp {
namespace {

using bytes = std::vector<std::byte>;

settings crypt(const std::string& how) {
  settings config = small_fragments();
  config.others["HEDDLE_TCP_CRYPT"] = how;
  return config;
}

/// What is carried: the same few bytes again and again, so that any piece of it can be told.
constexpr std::string_view motto = "weft and warp make up the cloth.";

bytes many_mottos(std::size_t size) {
  const auto once = std::as_bytes(std::span(motto));
  bytes out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = once[i % once.size()];
  return out;
}

bool shows_it(const bytes& seen) {
  const auto piece = std::as_bytes(std::span(motto)).first(8);
  return std::search(seen.begin(), seen.end(), piece.begin(), piece.end()) != seen.end();
}

/// Two ranks of a job, with somebody between them: rank 0 connects to rank 1 by the relay.
struct watched_job {
  test_job job;
  relay between;

  explicit watched_job(const settings& config) : job(2, "lo", config), between(*job[1].dev) {
    EXPECT_EQ(job[0].dev->add_peer(1, between.address(), true), "");
  }
  bool until(const std::function<bool()>& happened) {
    return job.until([&] {
      between.pump();
      return happened();
    });
  }
  void run(test_op o) {
    o.number = ++job.last_number;
    status s = status::busy_queue;
    ASSERT_TRUE(until([&] { return (s = job[0].post(o)) != status::busy_queue; }));
    if (s == status::done) return;
    ASSERT_EQ(s, status::posted);
    ASSERT_TRUE(until([&] { return job[0].ended.contains(o.number); }));
    EXPECT_EQ(job[0].ended[o.number], status::done);
  }
  /// All kinds of ops, all of which carry the motto, both ways.
  void talk() {
    bytes memory = many_mottos(1 << 20);
    const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
    for (const std::size_t size : {40u, 9000u, 60'000u}) run(send_op(1, many_mottos(size)));
    for (const std::size_t size : {40u, 9000u, 1u << 20}) {
      const bytes mine = many_mottos(size);
      run(put_op(1, ref, 0, mine));
      bytes back(size);
      run(get_op(1, ref, 0, back));
      EXPECT_EQ(back, mine);
    }
    std::uint64_t word = 0;
    std::memcpy(&word, motto.data(), sizeof word);
    run(atomic_at(1, ref, 0, word));
    ASSERT_TRUE(until([&] { return job[1].messages.size() == 3; }));
  }
};

class Encryption : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Encryption, testing::Values("on", "chacha20"),
                         [](const auto& p) { return std::string(p.param); });

TEST_P(Encryption, ShowsNothingOfWhatItCarriesToARecorder) {
  watched_job watched(crypt(GetParam()));
  watched.talk();
  const auto records = watched.between.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_GT(records[0].there.size(), std::size_t{1} << 20);
  EXPECT_GT(records[0].back.size(), std::size_t{1} << 20);
  EXPECT_FALSE(shows_it(records[0].there));
  EXPECT_FALSE(shows_it(records[0].back));
}

TEST(EncryptionOff, ShowsARecorderEverything) {
  watched_job watched(crypt("off"));
  watched.talk();
  const auto records = watched.between.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(shows_it(records[0].there));
  EXPECT_TRUE(shows_it(records[0].back));
}

/// Flips a bit of the byte at `place` of the stream.
relay::hand flip_at(std::size_t place) {
  return [place](const bytes& before, std::span<std::byte> now) {
    if (before.size() <= place && place < before.size() + now.size())
      now[place - before.size()] ^= std::byte{4};
  };
}

TEST_P(Encryption, AFlippedByteEndsTheConnectionAndIsNeverDelivered) {
  constexpr std::size_t handshake_bytes = hello_bytes + proof_bytes;
  const bytes text = many_mottos(500);
  for (const std::size_t place : {0u, 5u, 60u, 700u, 1500u, 2999u}) {
    watched_job watched(crypt(GetParam()));
    watched.between.to_the_rank = flip_at(handshake_bytes + place);
    std::size_t sent = 0;
    test_node &left = watched.job[0], &right = watched.job[1];
    ASSERT_TRUE(watched.until([&] {
      const test_op o = send_op(1, text);
      if (right.lost.empty() && left.post(std::span(&o, 1)).accepted == 1) ++sent;
      return !right.lost.empty() && !left.lost.empty();
    })) << place;
    EXPECT_NE(right.reasons.at(0).find("changed on the way"), std::string::npos)
        << right.reasons.at(0);
    EXPECT_LT(right.messages.size(), sent);
    for (const bytes& m : right.messages) EXPECT_EQ(m, text);
  }
}

TEST_P(Encryption, AFlippedByteOfAnAnswerEndsTheConnection) {
  watched_job watched(crypt(GetParam()));
  bytes memory = many_mottos(1 << 20), into(memory.size());
  const memory::region_ref ref = watched.job[1].regions.add(memory, rights::all).ref;
  watched.between.from_the_rank = flip_at(700'000);
  test_op get = get_op(1, ref, 0, into);
  get.number = 1;
  test_node& left = watched.job[0];
  ASSERT_TRUE(watched.until([&] { return left.post(get) == status::posted; }));
  ASSERT_TRUE(watched.until([&] { return !left.lost.empty(); }));
  EXPECT_NE(left.reasons.at(0).find("changed on the way"), std::string::npos);
  EXPECT_EQ(left.ended.at(1), status::peer_lost);
}

TEST(EncryptionAgreed, ByTheOneAlgorithmThatBothHave) {
  const auto left = test_job::open(0, 2, "lo", crypt("on"));
  auto right = test_job::open(1, 2, "lo", crypt("chacha20"));
  test_job job(0);
  EXPECT_EQ(left->dev->add_peer(1, right->dev->address(), true), "");
  EXPECT_EQ(right->dev->add_peer(0, left->dev->address(), true), "");
  const bytes text = many_mottos(100);
  const test_op o = send_op(1, text);
  ASSERT_TRUE(job.until([&] {
    right->serve();
    right->poll();
    return left->poll() == 0 && left->post(o) == status::done;
  }));
  ASSERT_TRUE(job.until([&] {
    right->serve();
    left->poll();
    return right->poll() != 0 && !right->messages.empty();
  }));
  EXPECT_EQ(right->messages[0], text);
}

TEST(EncryptionRefused, WhereOneSideEncryptsAndTheOtherDoesNotWithCauseAndCure) {
  const auto on = test_job::open(0, 2, "lo", crypt("on"));
  const auto off = test_job::open(1, 2, "lo", crypt("off"));
  const std::string of_on = on->dev->add_peer(1, off->dev->address(), true);
  EXPECT_NE(of_on.find("it does not encrypt"), std::string::npos) << of_on;
  EXPECT_NE(of_on.find("HEDDLE_TCP_CRYPT"), std::string::npos) << of_on;
  const std::string of_off = off->dev->add_peer(0, on->dev->address(), true);
  EXPECT_NE(of_off.find("it encrypts"), std::string::npos) << of_off;
}

// Addresses travel by ways that may be less safe than a hello.
TEST(EncryptionRefused, AlsoWhereAnAddressHidesThatTheOtherSideDoesNot) {
  for (const char* const mine : {"on", "off"}) {
    const auto left = test_job::open(0, 2, "lo", crypt(mine));
    auto right = test_job::open(1, 2, "lo", crypt(std::string(mine) == "on" ? "off" : "on"));
    test_job job(0);
    whereabouts lie = *parse_whereabouts(right->dev->address());
    lie.algorithms = parse_whereabouts(left->dev->address())->algorithms;
    ASSERT_EQ(left->dev->add_peer(1, encode(lie), true), "");
    const bytes text = many_mottos(100);
    const test_op o = send_op(1, text);
    ASSERT_TRUE(job.until([&] {
      (void)left->post(std::span(&o, 1));
      right->serve();
      right->poll();
      left->poll();
      return !left->lost.empty();
    }));
    EXPECT_NE(left->reasons[0].find("HEDDLE_TCP_CRYPT"), std::string::npos) << left->reasons[0];
    EXPECT_TRUE(right->messages.empty());
  }
}

}  // namespace
}  // namespace heddle::transport::tcp
