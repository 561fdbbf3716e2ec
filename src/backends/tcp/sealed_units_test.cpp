// SPDX-License-Identifier: BSD-3-Clause
// sealed_units_test.cpp - encrypted streams through sockets: whole however they are cut, and
// nothing of what was changed on the way.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <vector>

#include "backends/tcp/bytes.h"
#include "backends/tcp/stream.h"

namespace heddle::transport::tcp {
namespace {

using bytes = std::vector<std::byte>;
using enum transferred::kind_t;

constexpr cipher::key to_right{std::byte{1}}, to_left{std::byte{2}};
constexpr algorithm chacha = algorithm::chacha20_poly1305;

bytes noise(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  bytes out(size);
  std::ranges::generate(out, [&] { return static_cast<std::byte>(random()); });
  return out;
}

/// Two ends, and the sockets between them: what the left one says can be looked at on its way.
struct journey {
  sealed_stream left{{chacha, to_right, to_left}}, right{{chacha, to_left, to_right}};
  unique_fd left_fd, near, far, right_fd;

  journey() {
    EXPECT_GE(sodium_init(), 0);
    pair(left_fd, near);
    pair(far, right_fd);
  }
  static void pair(unique_fd& a, unique_fd& b) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    a.reset(ends[0]);
    b.reset(ends[1]);
  }
  /// Everything the left end says, as it travels. Offers `said` until all is taken.
  bytes travelling(const bytes& said) {
    bytes out;
    std::size_t at = 0;
    std::array<std::byte, 7000> some_bytes;
    while (at != said.size()) {
      iovec rest{const_cast<std::byte*>(said.data()) + at, said.size() - at};
      at += left.transmit(left_fd.get(), {&rest, 1}).bytes;
      for (;;) {
        const transferred t = tcp::receive(near.get(), std::span(some_bytes));
        if (t.kind != some) break;
        out.insert(out.end(), some_bytes.begin(),
                   some_bytes.begin() + static_cast<std::ptrdiff_t>(t.bytes));
      }
    }
    return out;
  }
  transferred hear(std::span<std::byte> into) {
    const iovec one{into.data(), into.size()};
    return right.receive(right_fd.get(), {&one, 1});
  }
  /// What the right end makes of `stream` when it comes in pieces of up to `piece` bytes.
  bytes heard(std::span<const std::byte> stream, std::size_t piece, std::size_t room,
              transferred& last) {
    bytes out, into(room);
    while (last.kind != broken && last.kind != ended) {
      if (stream.empty()) far.reset();
      const auto now = stream.first(std::min(piece, stream.size()));
      if (!now.empty()) stream = stream.subspan(tcp::transmit(far.get(), now).bytes);
      while ((last = hear(into)).kind == some)
        out.insert(out.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(last.bytes));
    }
    return out;
  }
};

TEST(SealedUnits, ArriveWholeHoweverTheyAreCut) {
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    journey j;
    const bytes said = noise(1 + random() % 300'000, static_cast<unsigned>(i));
    transferred last;
    EXPECT_EQ(j.heard(j.travelling(said), 1 + random() % 100'000, 1 + random() % 100'000, last),
              said);
    EXPECT_EQ(last.kind, ended);
  }
}

TEST(SealedUnits, GatherPartsOfAllSizesAndScatterThemToOthers) {
  journey j;
  const bytes said = noise(400'000);
  std::size_t gone = 0;
  bytes out(said.size());
  std::size_t got = 0;
  while (got != said.size()) {
    std::vector<iovec> parts;
    std::size_t at = gone;
    for (const std::size_t size : {24u, 0u, 150'000u, 5u, 90'000u, 159'971u}) {
      const std::size_t here = std::min<std::size_t>(size, said.size() - at);
      parts.push_back({const_cast<std::byte*>(said.data()) + at, here});
      at += here;
    }
    gone += j.left.transmit(j.left_fd.get(), parts).bytes;
    std::array<std::byte, 1 << 16> carried;
    const transferred t = tcp::receive(j.near.get(), std::span(carried));
    ASSERT_EQ(tcp::transmit(j.far.get(), std::span(carried).first(t.bytes)).bytes, t.bytes);
    const std::size_t first = std::min<std::size_t>(out.size() - got, 70'000);
    const std::array<iovec, 2> into{
        iovec{out.data() + got, first},
        iovec{out.data() + got + first, std::min<std::size_t>(out.size() - got - first, 4096)}};
    got += j.right.receive(j.right_fd.get(), into).bytes;
  }
  EXPECT_EQ(out, said);
}

TEST(SealedUnits, CountWhatIsWrittenOnlyWhenItsUnitIsAllOut) {
  journey j;
  const bytes said = noise(8 * most_plain);
  const int small = 4096;
  ::setsockopt(j.left_fd.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  iovec all{const_cast<std::byte*>(said.data()), said.size()};
  EXPECT_EQ(j.left.transmit(j.left_fd.get(), {&all, 1}).kind, none);
  EXPECT_GT(j.left.moved(), 0u);
}

TEST(SealedUnits, ShowNothingOfWhatTheyCarry) {
  journey j;
  const bytes said = noise(30'000);
  const bytes wire = j.travelling(said);
  for (std::ptrdiff_t at = 0; at + 8 <= std::ssize(said); at += 8)
    EXPECT_EQ(std::search(wire.begin(), wire.end(), said.begin() + at, said.begin() + at + 8),
              wire.end())
        << at;
}

TEST(SealedUnits, GiveNothingFromTheFlippedByteOn) {
  journey j;
  const bytes said = noise(3 * most_plain);
  bytes wire = j.travelling(said);
  wire[most_plain + unit_extra + 1000] ^= std::byte{1};
  transferred last;
  EXPECT_EQ(j.heard(wire, 10'000, 5000, last), bytes(said.begin(), said.begin() + most_plain));
  EXPECT_EQ(last.kind, broken);
  EXPECT_EQ(last.code, EBADMSG);
}

TEST(SealedUnits, GiveNothingWhenALengthIsChanged) {
  for (const std::uint32_t said_length : {0u, 1u, 299u, 301u, 65'537u, ~0u}) {
    journey j;
    bytes wire = j.travelling(noise(300));
    store_le(wire.data(), said_length);
    wire.resize(wire.size() + 1);  // so that one that is said to be longer is all here
    transferred last;
    EXPECT_EQ(j.heard(wire, wire.size(), 1000, last), bytes{}) << said_length;
    EXPECT_EQ(last.code, EBADMSG) << said_length;
  }
}

TEST(SealedUnits, GiveNothingOfWhatGoesBackToItsMaker) {
  journey j;
  const bytes said = noise(300);
  const bytes wire = j.travelling(said);
  ASSERT_EQ(tcp::transmit(j.near.get(), wire).bytes, wire.size());
  bytes into(1000);
  const iovec one{into.data(), into.size()};
  EXPECT_EQ(j.left.receive(j.left_fd.get(), {&one, 1}).code, EBADMSG);
}

TEST(SealedUnits, WakeWhoWaitsForTheSocketWhenOneIsNotGenuine) {
  journey j;
  bytes wire = j.travelling(noise(most_plain + 100));
  wire.back() ^= std::byte{1};
  std::size_t at = 0;
  while (at != wire.size()) {
    at += tcp::transmit(j.far.get(), std::span(wire).subspan(at)).bytes;
    bytes into(2 * most_plain);
    if (j.hear(into).kind == some) break;
  }
  ASSERT_EQ(at, wire.size());
  const unique_fd set = make_epoll();
  ASSERT_TRUE(watch(set.get(), j.right_fd.get(), 0, EPOLLIN));
  epoll_event e{};
  EXPECT_EQ(::epoll_wait(set.get(), &e, 1, 60'000), 1);
  bytes into(10);
  EXPECT_EQ(j.hear(into).code, EBADMSG);
}

}  // namespace
}  // namespace heddle::transport::tcp
