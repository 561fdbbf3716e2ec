// SPDX-License-Identifier: BSD-3-Clause
// results.cpp - rows, matrices and what is read out of them.
#include "linktest/results/results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "linktest/results/time_order.h"

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
double figure_of(const sketch& time, metric m, kernel k, std::uint64_t bytes) noexcept {
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

std::uint64_t row::bytes_of_peer(std::size_t sizes, std::uint64_t times) noexcept {
  constexpr std::uint64_t node =
      4 * sizeof(void*) + sizeof(std::pair<const int, std::vector<entry>>);
  return node + sizes * (sizeof(entry) + times * sizeof(float));
}

row::entry& row::at(std::size_t size_index, int peer) {
  std::vector<entry>& known = peers_[peer];
  if (known.empty()) known.resize(sizes_);
  return known[size_index];
}

std::span<const float> row::times(std::size_t size_index, int peer) const noexcept {
  const auto known = peers_.find(peer);
  return known == peers_.end() ? std::span<const float>{} : known->second[size_index].times;
}

void row::add_time(std::size_t size_index, int peer, double message_s) {
  at(size_index, peer).times.push_back(static_cast<float>(message_s));
  mark(size_index, peer, pair_state::measured);
}

void row::set_times(std::size_t size_index, int peer, std::span<const float> times,
                    std::span<const float> singles) {
  entry& one = at(size_index, peer);
  one.times.assign(times.begin(), times.end());
  if (!singles.empty()) one.singles = sketch_of(singles);
  if (!times.empty()) mark(size_index, peer, pair_state::measured);
}

void row::mark(std::size_t size_index, int peer, pair_state state) {
  pair_state& now = at(size_index, peer).state;
  now = std::max(now, state);
}

void row::mark_all_sizes(int peer, pair_state state) {
  for (std::size_t s = 0; s < sizes_; ++s) mark(s, peer, state);
}

std::vector<row_record> row::records() const {
  std::vector<row_record> out;
  for (const auto& [peer, entries] : peers_) {
    for (std::size_t s = 0; s < entries.size(); ++s) {
      const entry& one = entries[s];
      if (one.state == pair_state::unmeasured) continue;
      sketch time = sketch_of(one.times);
      if (one.singles.n != 0) {
        time.p90 = one.singles.p90;
        time.p99 = one.singles.p99;
        time.max = one.singles.max;
      }
      out.push_back({peer, static_cast<std::uint32_t>(s), {time, one.state, {}}});
    }
  }
  return out;
}

bool lists_pairs(int ranks, std::uint64_t known_pairs) noexcept {
  const auto n = static_cast<std::uint64_t>(ranks);
  return ranks > most_ranks_of_matrices || 2 * known_pairs < n * n;
}

results::results(int ranks, kernel k, std::vector<std::uint64_t> sizes)
    : ranks_(ranks), kernel_(k), sizes_(std::move(sizes)) {}

std::uint64_t results::bytes(int ranks, std::uint64_t ordered_pairs, std::size_t sizes) noexcept {
  return static_cast<std::uint64_t>(ranks) * sizeof(known_row) +
         ordered_pairs * (sizeof(std::int32_t) + sizes * sizeof(pair_record));
}

bool results::set_row(int rank, std::span<const row_record> records) {
  if (rank < 0 || rank >= ranks_) return false;
  std::int32_t before = 0;
  std::size_t peers = 0;
  for (const row_record& one : records) {
    if (one.peer < before || one.peer >= ranks_ || one.size_index >= sizes_.size()) return false;
    peers += peers == 0 || one.peer != before ? 1U : 0U;
    before = one.peer;
  }
  // Only who gathers rows has room for one of every rank.
  if (rows_.empty()) rows_.resize(static_cast<std::size_t>(ranks_));
  known_row fresh;
  fresh.peers.reserve(peers);
  fresh.records.resize(peers * sizes_.size());
  for (const row_record& one : records) {
    if (fresh.peers.empty() || fresh.peers.back() != one.peer) fresh.peers.push_back(one.peer);
    fresh.records[(fresh.peers.size() - 1) * sizes_.size() + one.size_index] = one.known;
  }
  if (!folder_.empty()) file(fresh);
  rows_[static_cast<std::size_t>(rank)] = std::move(fresh);
  return true;
}

/// Moves it from memory.
void results::file(known_row& row) {
  if (!file_) file_ = std::make_shared<row_file>(folder_);
  const std::uint64_t place = file_->add(std::as_bytes(std::span(row.peers)));
  (void)file_->add(std::as_bytes(std::span(row.records)));
  row = known_row{{}, {}, place, row.peers.size()};
}

results::row_view results::view_of(int rank) const noexcept {
  if (rows_.empty()) return {};
  const known_row& row = rows_[static_cast<std::size_t>(rank)];
  if (row.filed == 0) return {row.peers, row.records};
  const std::byte* const begin = file_->at(row.place);
  return {{reinterpret_cast<const std::int32_t*>(begin), row.filed},
          {reinterpret_cast<const pair_record*>(begin + row.filed * sizeof(std::int32_t)),
           row.filed * sizes_.size()}};
}

bool results::pairs_listed() const noexcept {
  std::uint64_t known = 0;
  for (int r = 0; r < ranks_; ++r) known += view_of(r).peers.size();
  return lists_pairs(ranks_, known);
}

const pair_record& results::at(std::size_t size_index, int initiator, int peer) const {
  static const pair_record nothing;
  const row_view row = view_of(initiator);
  const auto found = std::lower_bound(row.peers.begin(), row.peers.end(), peer);
  if (found == row.peers.end() || *found != peer) return nothing;
  const auto place = static_cast<std::size_t>(found - row.peers.begin());
  return row.records[place * sizes_.size() + size_index];
}

double results::value_of(std::size_t size_index, const pair_record& one, metric m) const {
  return figure_of(one.time, m, kernel_, sizes_[size_index]);
}

double results::value(std::size_t size_index, int initiator, int peer, metric m) const {
  return value_of(size_index, at(size_index, initiator, peer), m);
}

std::vector<double> results::matrix(std::size_t size_index, metric m) const {
  const auto n = static_cast<std::size_t>(ranks_);
  std::vector<double> out(n * n, nan);
  for_known(size_index, [&](int r, int p, const pair_record& one) {
    out[static_cast<std::size_t>(r) * n + static_cast<std::size_t>(p)] =
        value_of(size_index, one, m);
  });
  return out;
}

std::vector<std::uint8_t> results::states(std::size_t size_index) const {
  const auto n = static_cast<std::size_t>(ranks_);
  std::vector<std::uint8_t> out(n * n);
  for_known(size_index, [&](int r, int p, const pair_record& one) {
    out[static_cast<std::size_t>(r) * n + static_cast<std::size_t>(p)] =
        static_cast<std::uint8_t>(one.state);
  });
  return out;
}

spread results::summary(std::size_t size_index, metric m) const {
  const metric looked_at = m == metric::bandwidth ? metric::time_median : m;
  const time_order order = time_order::of([&](const auto& look) {
    for_known(size_index, [&](int, int, const pair_record& one) {
      look(static_cast<float>(value_of(size_index, one, looked_at)));
    });
  });
  return m == metric::bandwidth ? order.rates(kernel_, sizes_[size_index]) : order.times();
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
  std::uint64_t found = 0, known = 0;
  for (std::size_t s = 0; s < sizes_.size(); ++s)
    for_known(s, [&](int r, int p, const pair_record& one) {
      known += r != p ? 1u : 0u;
      found += r != p && one.state == state ? 1u : 0u;
    });
  const auto n = static_cast<std::uint64_t>(ranks_);
  return state == pair_state::unmeasured ? n * (n - 1) * sizes_.size() - known : found;
}

}  // namespace heddle::linktest
