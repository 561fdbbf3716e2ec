// SPDX-License-Identifier: BSD-3-Clause
// tagged_ping_pong.cpp - pairs of ranks send a message to and fro and print what one way takes.
//   heddle run -n 2 -- tagged_ping_pong
#include <heddle/heddle.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>

constexpr std::uint64_t rounds = 2000;
constexpr heddle::tag ping = 1;
constexpr heddle::tag pong = 2;

bool send(heddle::lane& lane, int to, heddle::tag tag, const std::uint64_t& value) {
  return lane.send(to, tag, std::as_bytes(std::span(&value, 1))) == heddle::status::done;
}

bool receive(heddle::lane& lane, int from, heddle::tag tag, std::uint64_t expected) {
  std::uint64_t value = 0;
  const auto got = lane.recv(from, tag, std::as_writable_bytes(std::span(&value, 1)));
  return got.code == heddle::status::done && got.bytes == sizeof value && value == expected;
}

int main() try {
  using clock = std::chrono::steady_clock;
  heddle::world world;
  heddle::lane lane(world);
  const int partner = world.rank() ^ 1;  // 0 with 1, 2 with 3 ...
  if (partner >= world.size()) return 0;
  const bool starts = world.rank() < partner;

  const auto begin = clock::now();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const bool fine = starts ? send(lane, partner, ping, i) && receive(lane, partner, pong, ~i)
                             : receive(lane, partner, ping, i) && send(lane, partner, pong, ~i);
    if (!fine) return 1;
  }
  const std::chrono::duration<double, std::micro> took = clock::now() - begin;
  if (starts) {
    std::printf("ranks %d and %d over %s: %.2f us one way\n", world.rank(), partner,
                world.route(partner).c_str(), took.count() / (2.0 * rounds));
  }
  return 0;
} catch (const heddle::error& reason) {
  std::fprintf(stderr, "tagged_ping_pong: %s\n", reason.what());
  return 1;
}
