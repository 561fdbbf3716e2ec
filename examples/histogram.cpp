// SPDX-License-Identifier: BSD-3-Clause
// histogram.cpp - all ranks count their samples in one histogram spread over all ranks, with
// remote atomic adds; each rank then checks its bins against a count of its own.
//   heddle run -n 4 -- histogram
#include <heddle/heddle.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

constexpr std::uint64_t bins_per_rank = 256;
constexpr std::uint64_t samples = 20'000;  // per rank

/// The bins that `rank`'s samples fall in: the same wherever it is asked.
std::vector<std::uint64_t> samples_of(int rank, std::uint64_t bins) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank));
  std::vector<std::uint64_t> all(samples);
  for (auto& bin : all) bin = random() % bins;
  return all;
}

int main() try {
  heddle::world world;
  heddle::lane lane(world);
  auto histogram = world.symmetric<std::uint64_t>(bins_per_rank);
  const auto bins = bins_per_rank * static_cast<std::uint64_t>(world.size());

  heddle::counter ended;
  std::uint64_t posted = 0;
  for (const std::uint64_t bin : samples_of(world.rank(), bins)) {
    const auto owner = static_cast<heddle::rank>(bin / bins_per_rank);
    const auto place = histogram.at(owner, bin % bins_per_rank);
    auto answer = lane.try_add(place, std::uint64_t{1}, ended);
    for (; heddle::is_busy(answer); answer = lane.try_add(place, std::uint64_t{1}, ended)) {
      lane.poll();  // too many in flight: let some end
    }
    if (heddle::refused(answer)) return 1;
    if (answer == heddle::status::posted) ++posted;  // `done` has no completion
  }
  if (lane.wait(ended, posted) != heddle::status::done) return 1;
  if (heddle::barrier(lane) != heddle::status::done) return 1;  // all have counted

  std::vector<std::uint64_t> expected(bins);
  for (int rank = 0; rank < world.size(); ++rank) {
    for (const std::uint64_t bin : samples_of(rank, bins)) ++expected[bin];
  }
  std::uint64_t here = 0;
  for (std::uint64_t i = 0; i < bins_per_rank; ++i) {
    const auto bin = static_cast<std::uint64_t>(world.rank()) * bins_per_rank + i;
    if (histogram.local()[i] != expected[bin]) return 1;
    here += histogram.local()[i];
  }
  std::uint64_t total = 0;
  const auto answer =
      heddle::allreduce(lane, std::span(&here, 1), std::span(&total, 1), heddle::reduce_op::sum);
  if (answer != heddle::status::done) return 1;
  if (total != samples * static_cast<std::uint64_t>(world.size())) return 1;
  if (world.rank() == 0) std::printf("%llu samples\n", static_cast<unsigned long long>(total));
  return 0;
} catch (const heddle::error& reason) {
  std::fprintf(stderr, "histogram: %s\n", reason.what());
  return 1;
}
