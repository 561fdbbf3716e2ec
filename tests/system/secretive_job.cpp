// SPDX-License-Identifier: BSD-3-Clause
// secretive_job.cpp - two ranks that send each other, and put, get and call with, one text over and
// over, for tests that look for it on the network. Exits with 0 when it came as it was.
//
// secretive_job TEXT
#include <heddle/heddle.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using heddle::status;

constexpr std::size_t most = 1 << 20;

/// As often as it fits.
std::vector<std::byte> repeated(const std::string& text, std::size_t bytes) {
  std::vector<std::byte> all(bytes);
  for (std::size_t at = 0; at < bytes; ++at)
    all[at] = static_cast<std::byte>(text[at % text.size()]);
  return all;
}

/// A small message, which goes at once, and a large one, which is fetched.
bool exchange(heddle::lane& lane, heddle::rank peer, const std::string& text, std::size_t bytes) {
  const auto mine = repeated(text, bytes);
  std::vector<std::byte> theirs(bytes);
  heddle::flag came;
  if (lane.try_recv(peer, 1, theirs, came) != status::posted) return false;
  return lane.send(peer, 1, mine) == status::done && lane.wait(came) == status::done &&
         theirs == mine;
}

bool put(heddle::world& world, heddle::lane& lane, heddle::rank peer, const std::string& text) {
  auto area = world.symmetric<std::byte>(most);
  const auto mine = repeated(text, most);
  const bool written = lane.put(mine, area.at(peer).address) == status::done;
  world.barrier();
  std::vector<std::byte> back(most);
  const bool read = lane.get(back, area.at(peer).address) == status::done;
  const bool good = std::ranges::equal(area.local(), mine) && back == mine;
  world.barrier();
  return written && read && good;
}

}  // namespace

int main(int, char** arguments) {
  const std::string text = arguments[1];
  heddle::world world;
  heddle::lane lane(world);
  const heddle::rank peer = 1 - world.rank();
  const bool good = exchange(lane, peer, text, text.size()) && exchange(lane, peer, text, most) &&
                    put(world, lane, peer, text);
  if (!good) std::fputs("it came otherwise than it was sent\n", stderr);
  return good ? 0 : 1;
}
