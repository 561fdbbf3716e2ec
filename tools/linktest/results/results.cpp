// SPDX-License-Identifier: BSD-3-Clause
// results.cpp - rows, matrices and what is read out of them.
#include "linktest/results/results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace heddle::linktest {
namespace {

struct description {
  std::string_view name, unit, definition;
};

/// In the order of the enumeration.
constexpr std::array<description, std::size(all_metrics)> descriptions{{
    {"time_min", "s", "smallest time per message, [initiator][peer]"},
    {"time_median", "s", "median time per message, [initiator][peer]"},
    {"time_p90", "s",
     "90th percentile of the times of single messages, or of the measurements where there are "
     "none, [initiator][peer]"},
    {"time_p99", "s",
     "99th percentile of the times of single messages, or of the measurements where there are "
     "none, [initiator][peer]"},
    {"time_max", "s",
     "largest time of a single message, or of the measurements where there are none, "
     "[initiator][peer]"},
    {"time_mean", "s", "mean of the times per message, [initiator][peer]"},
    {"time_mad", "s", "median distance of the times from their median, [initiator][peer]"},
    {"time_ci_low", "s",
     "lower end of the median's 95 % confidence interval, [initiator][peer]; none for fewer than 6 "
     "times"},
    {"time_ci_high", "s",
     "upper end of the median's 95 % confidence interval, [initiator][peer]; none for fewer than 6 "
     "times"},
    {"samples", "1", "how many times were measured, [initiator][peer]"},
    {"bandwidth", "B/s",
     "message size / median time (twice that for kernel bi), [initiator][peer]"},
}};

const description& about(metric m) noexcept {
  return descriptions[static_cast<std::size_t>(m)];
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Of messages of `bytes`.
double value_of(const sketch& time, metric m, kernel k, std::uint64_t bytes) noexcept {
  switch (m) {
    case metric::time_min:
      return time.min;
    case metric::time_median:
      return time.median;
    case metric::time_p90:
      return time.p90;
    case metric::time_p99:
      return time.p99;
    case metric::time_max:
      return time.max;
    case metric::time_mean:
      return time.mean;
    case metric::time_mad:
      return time.mad;
    case metric::time_ci_low:
      return time.ci_low;
    case metric::time_ci_high:
      return time.ci_high;
    case metric::samples:
      return time.n != 0 ? time.n : nan;
    case metric::bandwidth:
      return bytes_per_second(k, bytes, time.median);
  }
  return nan;
}

}  // namespace

std::string_view name_of(pair_state state) noexcept {
  constexpr std::array<std::string_view, 4> names{"unmeasured", "measured", "lost", "corrupted"};
  return names[static_cast<std::size_t>(state)];
}

std::string_view name_of(metric m) noexcept {
  return about(m).name;
}

std::string_view unit_of(metric m) noexcept {
  return about(m).unit;
}

std::string_view definition_of(metric m) noexcept {
  return about(m).definition;
}

row::row(std::size_t sizes, int ranks, std::size_t repetitions)
    : ranks_(static_cast<std::size_t>(ranks)),
      times_(sizes * ranks_),
      singles_(sizes * ranks_),
      states_(sizes * ranks_) {
  for (auto& entry : times_) entry.reserve(repetitions);
}

void row::add_time(std::size_t size_index, int peer, double message_s) {
  times_[at(size_index, peer)].push_back(static_cast<float>(message_s));
  mark(size_index, peer, pair_state::measured);
}

void row::set_times(std::size_t size_index, int peer, std::span<const float> times,
                    std::span<const float> singles) {
  const std::size_t entry = at(size_index, peer);
  times_[entry].assign(times.begin(), times.end());
  if (!singles.empty()) singles_[entry] = sketch_of(singles);
  if (!times.empty()) mark(size_index, peer, pair_state::measured);
}

void row::mark(std::size_t size_index, int peer, pair_state state) noexcept {
  pair_state& now = states_[at(size_index, peer)];
  now = std::max(now, state);
}

void row::mark_all_sizes(int peer, pair_state state) noexcept {
  for (std::size_t s = 0; s < states_.size() / ranks_; ++s) mark(s, peer, state);
}

std::vector<pair_record> row::records() const {
  std::vector<pair_record> out(times_.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {sketch_of(times_[i]), states_[i], {}};
    if (singles_[i].n == 0) continue;
    out[i].time.p90 = singles_[i].p90;
    out[i].time.p99 = singles_[i].p99;
    out[i].time.max = singles_[i].max;
  }
  return out;
}

results::results(int ranks, kernel k, std::vector<std::uint64_t> sizes)
    : ranks_(ranks), kernel_(k), sizes_(std::move(sizes)) {
  const auto n = static_cast<std::size_t>(ranks);
  records_.assign(sizes_.size() * n * n, {});
}

std::uint64_t results::bytes(int ranks, std::size_t sizes) noexcept {
  const auto n = static_cast<std::uint64_t>(ranks);
  return n * n * sizes * sizeof(pair_record);
}

bool results::set_row(int rank, std::span<const pair_record> records) {
  const auto n = static_cast<std::size_t>(ranks_);
  if (records.size() != sizes_.size() * n || rank < 0 || rank >= ranks_) return false;
  for (std::size_t s = 0; s < sizes_.size(); ++s)
    std::copy_n(records.begin() + static_cast<std::ptrdiff_t>(s * n), n,
                records_.begin() +
                    static_cast<std::ptrdiff_t>((s * n + static_cast<std::size_t>(rank)) * n));
  return true;
}

const pair_record& results::at(std::size_t size_index, int initiator, int peer) const {
  const auto n = static_cast<std::size_t>(ranks_);
  return records_[(size_index * n + static_cast<std::size_t>(initiator)) * n +
                  static_cast<std::size_t>(peer)];
}

double results::value(std::size_t size_index, int initiator, int peer, metric m) const {
  return value_of(at(size_index, initiator, peer).time, m, kernel_, sizes_[size_index]);
}

std::vector<double> results::matrix(std::size_t size_index, metric m) const {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(ranks_));
  for (int r = 0; r < ranks_; ++r)
    for (int p = 0; p < ranks_; ++p) out.push_back(value(size_index, r, p, m));
  return out;
}

std::vector<std::uint8_t> results::states(std::size_t size_index) const {
  std::vector<std::uint8_t> out;
  for (int r = 0; r < ranks_; ++r)
    for (int p = 0; p < ranks_; ++p)
      out.push_back(static_cast<std::uint8_t>(at(size_index, r, p).state));
  return out;
}

spread results::summary(std::size_t size_index, metric m) const {
  return spread_of(matrix(size_index, m));
}

std::uint64_t results::missing() const {
  const std::uint64_t lost = count(pair_state::lost), never = count(pair_state::unmeasured);
  if (!sampled()) return lost + never;
  // Who had no time for a single pair has found nothing out.
  const std::uint64_t planned = std::max<std::uint64_t>(sample_, 1) * sizes_.size();
  const std::uint64_t tried = count(pair_state::measured) + count(pair_state::corrupted) + lost;
  return lost + planned - std::min(planned, tried);
}

std::uint64_t results::count(pair_state state) const {
  std::uint64_t found = 0;
  for (std::size_t s = 0; s < sizes_.size(); ++s)
    for (int r = 0; r < ranks_; ++r)
      for (int p = 0; p < ranks_; ++p) found += r != p && at(s, r, p).state == state ? 1u : 0u;
  return found;
}

}  // namespace heddle::linktest
