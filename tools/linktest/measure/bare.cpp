// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/bare.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "linktest/results/metrics.h"

namespace heddle::linktest {
namespace {

using clock = std::chrono::steady_clock;
constexpr tag bare_tag = tag_for(purpose::data, (std::uint64_t{1} << 56) - 1);  // of no visit

/// False: a message failed.
bool bounce(lane& path, std::uint64_t count, std::span<const std::byte> data,
            std::span<std::byte> into) {
  const rank peer = 1 - path.self();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (path.self() == 0 && path.send(peer, bare_tag, data) != status::done) return false;
    if (path.recv(peer, bare_tag, into).code != status::done) return false;
    if (path.self() == 1 && path.send(peer, bare_tag, data) != status::done) return false;
  }
  return true;
}

/// How many messages before the first turn, how many turns, and messages in each. From rank 0 to
/// rank 1 as these bytes.
struct effort {
  std::uint64_t untimed = 1, turns = 1, messages = 1;
};

/// What fits into a twentieth of a second or so: a slow network is not to be kept busy by this.
effort affordable(double round_trip_s, std::uint64_t messages) {
  constexpr double budget_s = 0.05;
  constexpr std::uint64_t most_turns = 11;
  const auto trips = static_cast<std::uint64_t>(budget_s / std::max(round_trip_s, 1e-9));
  effort out;
  out.messages = std::clamp<std::uint64_t>(trips, 1, messages);
  out.turns = std::clamp<std::uint64_t>(trips / out.messages, 1, most_turns);
  out.untimed = std::max(out.messages, trips / 10);  // queues' memory is touched, cores are awake
  return out;
}

/// The two ranks' part for one size: the median time per message. NaN: a message failed.
double median_of(lane& path, std::uint64_t messages, std::span<const std::byte> data,
                 std::span<std::byte> into) {
  constexpr double failed = std::numeric_limits<double>::quiet_NaN();
  const auto timed = [&](std::uint64_t count) {
    const auto begin = clock::now();
    const bool whole = bounce(path, count, data, into);
    return whole ? std::chrono::duration<double>(clock::now() - begin).count() : failed;
  };
  if (!bounce(path, 1, data, into)) return failed;  // makes the connection
  effort how = affordable(timed(1), messages);
  const auto told = std::as_writable_bytes(std::span(&how, 1));
  const bool agreed = path.self() == 0 ? path.send(1, bare_tag, told) == status::done
                                       : path.recv(0, bare_tag, told).code == status::done;
  if (!agreed || !bounce(path, how.untimed, data, into)) return failed;
  std::vector<double> times;
  for (std::uint64_t turn = 0; turn < how.turns; ++turn) {
    const double elapsed_s = timed(how.messages);
    if (std::isnan(elapsed_s)) return failed;
    times.push_back(elapsed_s / static_cast<double>(2 * how.messages));
  }
  return spread_of(times).median;
}

}  // namespace

bare_times bare_ping_pong(lane& path, std::span<const std::uint64_t> sizes, std::uint64_t messages,
                          const message_memory& memory) {
  if (path.self() > 1) return {};
  bare_times medians;
  for (const std::uint64_t size : sizes) {
    medians.push_back(
        median_of(path, messages, memory.send.first(size), memory.receive.first(size)));
    if (std::isnan(medians.back())) return {};
  }
  return path.self() == 0 ? medians : bare_times{};
}

}  // namespace heddle::linktest
