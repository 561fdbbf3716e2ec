// SPDX-License-Identifier: BSD-3-Clause
// parts_test.cpp - the parts that know no card: streams, parcels, atomics by tries, hellos,
// letters, addresses.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "backends/verbs/facts.h"
#include "backends/verbs/hello.h"
#include "backends/verbs/letter_box.h"
#include "backends/verbs/parcel.h"
#include "backends/verbs/stream.h"
#include "backends/verbs/words.h"
#include "backends/verbs/work_list.h"

namespace heddle::transport::verbs {
namespace {

flight& add(flight_queue& s, ending how, std::uint32_t bytes) {
  flight& f = s.push();
  f.how = how;
  f.bytes = bytes;
  return f;
}

TEST(FlightQueue, KeepsFlightsUntilTheyAreOver) {
  flight_queue s;
  s.reserve(4);
  for (std::uint32_t n = 1; n <= 4; ++n) add(s, ending::told, n);
  EXPECT_FALSE(s.has_room());
  s.issued(3, true);
  EXPECT_EQ(s.under_way(), 3u);
  EXPECT_EQ(s.unissued(), 1u);
  EXPECT_TRUE(s.holds(0));
  EXPECT_TRUE(s.holds(2));
  EXPECT_FALSE(s.holds(3)) << "it was not issued";
  s.pop();
  EXPECT_FALSE(s.holds(0));
  EXPECT_TRUE(s.has_room());
  EXPECT_EQ(s.oldest().bytes, 2u);
}

TEST(FlightQueue, KnowsHowManyTellNothingOfTheirEnd) {
  flight_queue s;
  s.reserve(8);
  for (std::uint32_t n = 0; n < 5; ++n) add(s, ending::sent, 1);
  s.issued(2, false);
  EXPECT_EQ(s.unheard(), 2u);
  s.issued(1, true);
  EXPECT_EQ(s.unheard(), 0u);
  s.issued(2, false);
  EXPECT_EQ(s.unheard(), 2u);
  for (int n = 0; n < 4; ++n) s.pop();
  EXPECT_EQ(s.unheard(), 1u);
}

TEST(Stream, IssuesAgainWhatWasBehindAFailureInTheSameOrder) {
  stream s;
  s.flights.reserve(8);
  for (std::uint32_t n = 0; n < 6; ++n) add(s.flights, n % 2 == 0 ? ending::sent : ending::told, n);
  s.flights.issued(5, true);
  s.flights.pop();
  s.flights.pop();
  const work_id name = s.name;
  s.rewind();
  EXPECT_FALSE(s.name.is_beside(name)) << "what still comes of the old queue pair is known by it";
  EXPECT_EQ(s.state, stream::state_t::unused);
  EXPECT_EQ(s.flights.unissued(), 4u);
  EXPECT_EQ(s.flights.under_way(), 0u);
  for (std::uint32_t n = 2; n < 6; ++n) {
    EXPECT_EQ(s.flights.oldest().bytes, n);
    s.flights.issued(1, true);
    s.flights.pop();
  }
}

TEST(SendWindow, HasRoomForNoMoreMessagesThanThePeerHasBuffersFor) {
  send_window w;
  w.open(4);
  for (int n = 0; n < 4; ++n) {
    EXPECT_TRUE(w.has_room());
    w.count_sent();
  }
  EXPECT_FALSE(w.has_room());
  EXPECT_TRUE(w.on_taken(1));
  EXPECT_TRUE(w.has_room());
}

TEST(SendWindow, BelievesNoPeerThatHasTakenWhatWasNotSent) {
  send_window w;
  w.open(4);
  w.count_sent();
  w.count_sent();
  EXPECT_FALSE(w.on_taken(3));
  EXPECT_TRUE(w.on_taken(2));
  EXPECT_FALSE(w.on_taken(1)) << "it has taken more before";
  EXPECT_FALSE(w.on_taken(~0u));
}

TEST(Stream, CountsTheMessagesThatItSendsAgainAtANewEnd) {
  stream s;
  s.flights.reserve(16);
  s.begin(0, 4);
  for (int n = 0; n < 4; ++n) {
    add(s.flights, ending::sent, 1);
    s.window.count_sent();
  }
  s.flights.issued(4, true);
  s.flights.pop();  // one has arrived
  s.rewind();
  s.begin(1, 4);
  EXPECT_TRUE(s.window.has_room()) << "three are to come there";
  s.window.count_sent();
  EXPECT_FALSE(s.window.has_room());
}

TEST(FlightQueue, CountsOnWhenItsPositionsWrap) {
  flight_queue s;
  s.reserve(4);
  for (int round = 0; round < 100'000; ++round) {
    add(s, ending::told, 1);
    s.issued(1, true);
    ASSERT_TRUE(s.holds(s.head()));
    s.pop();
  }
  EXPECT_TRUE(s.empty());
}

TEST(FlightQueue, LetsMessagesJoinOnlyTheNewestThatHasNotLeft) {
  flight_queue s;
  s.reserve(8);
  EXPECT_EQ(s.joinable(), nullptr) << "there is none";
  flight& first = add(s, ending::sent, 32);
  EXPECT_EQ(s.joinable(), &first);
  s.count_joined();
  EXPECT_EQ(s.unissued(), 1u);
  EXPECT_EQ(s.gathered(), 2u);
  s.issued(1, false);
  EXPECT_EQ(s.joinable(), nullptr) << "it has left";
  EXPECT_EQ(s.gathered(), 0u);
  add(s, ending::sent, 32);
  add(s, ending::told, 8);
  EXPECT_EQ(s.joinable(), nullptr) << "the message would overtake the put";
  add(s, ending::sent, 32).follows = true;
  EXPECT_EQ(s.joinable(), nullptr) << "it may have to be left out with its put";
}

// --- parcels ---------------------------------------------------------------------------

std::vector<std::byte> message_of(std::size_t data) {
  std::vector<std::byte> all(sizeof(message_head) + data);
  for (std::size_t i = 0; i < data; ++i) all[sizeof(message_head) + i] = std::byte(i + data);
  return all;
}

TEST(Parcel, GivesTheMessagesThatWereWrittenInTheirOrder) {
  std::array<std::byte, parcel::most_bytes> buffer{};
  std::size_t filled = 0;
  const std::array<std::size_t, 6> sizes{0, 1, 7, 8, 49, 1000};
  for (const std::size_t size : sizes) {
    const auto message = message_of(size);
    const auto data = std::span(message).subspan(sizeof(message_head));
    parcel::write(&buffer.at(filled), {}, data.first(size / 2), data.subspan(size / 2));
    filled += parcel::bytes_of(message.size());
  }
  parcel all{std::span(buffer).first(filled)};
  for (const std::size_t size : sizes)
    EXPECT_TRUE(std::ranges::equal(all.next(), message_of(size)));
  EXPECT_TRUE(all.empty());
}

TEST(Parcel, HasRoomForTheLargestMessage) {
  EXPECT_EQ(parcel::bytes_of(max_message), parcel::most_bytes);
}

TEST(Parcel, EndsWhereWhatIsLeftIsNoMessage) {
  std::array<std::byte, 64> buffer{};
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{57}, ~std::uint64_t{0}}) {
    std::memcpy(buffer.data(), &length, sizeof length);
    parcel p(buffer);
    EXPECT_TRUE(p.next().empty());
    EXPECT_TRUE(p.empty());
  }
  for (std::size_t bytes = 0; bytes < parcel::length_bytes; ++bytes) {
    parcel p{std::span(buffer).first(bytes)};
    EXPECT_TRUE(p.next().empty());
    EXPECT_TRUE(p.empty());
  }
}

TEST(WorkId, KeepsWhatItIsMadeOf) {
  for (const auto kind : {work_id::kind_t::flight, work_id::kind_t::word, work_id::kind_t::arrival})
    for (const std::uint32_t number : {0u, 1u, 0x3f'ffffu}) {
      const work_id made(work_id(kind, 255, number, 0xffff'ffff).bits());
      EXPECT_EQ(made.kind(), kind);
      EXPECT_EQ(made.generation(), 255);
      EXPECT_EQ(made.number(), number);
      EXPECT_EQ(made.position(), 0xffff'ffff);
    }
}

op atomic(atomic_op what, std::uint8_t width, std::uint64_t operand, std::uint64_t compare = 0) {
  op o;
  o.kind = op_kind::atomic;
  o.atomic = what;
  o.width = width;
  o.operand = operand;
  o.compare = compare;
  return o;
}

TEST(Words, ChangesOnlyTheHalfThatIsMeant) {
  constexpr std::uint64_t both = 0x1111'2222'3333'4444u;
  EXPECT_EQ(word_place(0x1000, 4).get(both), 0x3333'4444u);
  EXPECT_EQ(word_place(0x1004, 4).get(both), 0x1111'2222u);
  EXPECT_EQ(word_place(0x1000, 4).put(both, 5), 0x1111'2222'0000'0005u);
  EXPECT_EQ(word_place(0x1004, 4).put(both, 5), 0x0000'0005'3333'4444u);
  EXPECT_EQ(word_place(0x1000, 8).put(both, 5), 5u);
}

TEST(Words, LetsNoCarryOutOfAHalf) {
  const op o = atomic(atomic_op::add, 4, 1);
  const word_place low(0x1000, 4);
  const std::uint64_t all = 0x0000'0007'ffff'ffffu;
  EXPECT_EQ(low.put(all, result_of(o, low.get(all), low.mask)), 0x0000'0007'0000'0000u);
}

TEST(Words, DoesWhatEachAtomicSays) {
  const auto after = [](const op& o) { return result_of(o, 0b1100, UINT64_MAX); };
  EXPECT_EQ(after(atomic(atomic_op::add, 8, 5)), 17u);
  EXPECT_EQ(after(atomic(atomic_op::bit_and, 8, 0b1010)), 0b1000u);
  EXPECT_EQ(after(atomic(atomic_op::bit_or, 8, 0b1010)), 0b1110u);
  EXPECT_EQ(after(atomic(atomic_op::bit_xor, 8, 0b1010)), 0b0110u);
  EXPECT_EQ(after(atomic(atomic_op::swap, 8, 7)), 7u);
  EXPECT_EQ(after(atomic(atomic_op::compare_swap, 8, 7, 0b1100)), 7u);
  EXPECT_EQ(after(atomic(atomic_op::compare_swap, 8, 7, 1)), 0b1100u);
}

std::array<std::byte, 32> secret_of(int seed) {
  std::array<std::byte, 32> s{};
  s.fill(static_cast<std::byte>(seed));
  return s;
}

TEST(Hello, ComesOutAsItWentIn) {
  hello h;
  h.kind = hello::kind_t::answer;
  h.from = 3;
  h.to = 4;
  h.from_lane = 5;
  h.question = 77;
  h.end = {0x1234, 0xfffff};
  const auto secret = secret_of(1);
  const auto image = encode(h, secret);
  const auto back = parse_hello(image, secret);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->question, 77u);
  EXPECT_EQ(back->end.qpn, 0x1234u);
  EXPECT_EQ(back->from_lane, 5);
}

TEST(Hello, IsNothingToAnotherJobOrWithAnyBitTurned) {
  const auto secret = secret_of(1);
  const auto image = encode(hello{}, secret);
  EXPECT_FALSE(parse_hello(image, secret_of(2)));
  EXPECT_FALSE(parse_hello(std::span(image).first(image.size() - 1), secret));
  for (std::size_t bit = 0; bit < 8 * image.size(); ++bit) {
    auto turned = image;
    turned.at(bit / 8) ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(parse_hello(turned, secret)) << "bit " << bit;
  }
}

TEST(LetterBox, RingsUntilWhatIsInItIsTaken) {
  letter_box box;
  const auto rings = [&box] {
    pollfd bell{box.bell(), POLLIN, 0};
    return ::poll(&bell, 1, 0) == 1;
  };
  EXPECT_FALSE(box.has_letters() || rings());
  box.put({.stream = 1, .question = 2, .answer = {}});
  box.put({.stream = 3, .question = 4, .answer = hello{}});
  EXPECT_TRUE(box.has_letters() && rings());
  const auto letters = box.take_all();
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_EQ(letters[0].stream, 1u);
  EXPECT_FALSE(letters[0].answer.has_value());
  EXPECT_EQ(letters[1].question, 4u);
  EXPECT_FALSE(box.has_letters() || rings());
  EXPECT_TRUE(box.take_all().empty());
}

TEST(Address, ComesOutAsItWentInAndOtherBytesAreNone) {
  peer_facts f;
  f.number = 9;
  f.place.mtu = IBV_MTU_1024;
  f.place.reads = 16;
  const auto bytes = to_address(f);
  const auto back = from_address(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->number, 9);
  EXPECT_FALSE(from_address({}));
  EXPECT_FALSE(from_address(std::span(bytes).first(bytes.size() - 1)));
  auto other = bytes;
  other[0] ^= std::byte{1};
  EXPECT_FALSE(from_address(other));
}

}  // namespace
}  // namespace heddle::transport::verbs
