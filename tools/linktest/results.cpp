// results.cpp - rows, matrices and what is read out of them.
#include "linktest/results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace heddle::linktest {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr pair_record nothing{{nan, nan, nan}, pair_state::unmeasured, {}};

}  // namespace

std::string_view name_of(pair_state state) noexcept {
  constexpr std::array<std::string_view, 4> names{"unmeasured", "measured", "lost", "corrupted"};
  return names[static_cast<std::size_t>(state)];
}

std::string_view name_of(metric m) noexcept {
  constexpr std::array<std::string_view, 4> names{"time_min", "time_median", "time_max",
                                                  "bandwidth"};
  return names[static_cast<std::size_t>(m)];
}

std::string_view unit_of(metric m) noexcept {
  return m == metric::bandwidth ? "B/s" : "s";
}

std::string_view definition_of(metric m) noexcept {
  constexpr std::array<std::string_view, 4> texts{
      "smallest time per message over the repetitions, [initiator][peer]",
      "median time per message over the repetitions, [initiator][peer]",
      "largest time per message over the repetitions, [initiator][peer]",
      "message size / median time (twice that for kernel bi), [initiator][peer]"};
  return texts[static_cast<std::size_t>(m)];
}

row::row(std::size_t sizes, int ranks, std::size_t repetitions)
    : ranks_(static_cast<std::size_t>(ranks)), times_(sizes * ranks_), states_(sizes * ranks_) {
  for (auto& entry : times_) entry.reserve(repetitions);
}

void row::add_time(std::size_t size_index, int peer, double message_s) {
  times_[at(size_index, peer)].push_back(message_s);
  mark(size_index, peer, pair_state::measured);
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
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {spread_of(times_[i]), states_[i], {}};
  return out;
}

results::results(int ranks, kernel k, std::vector<std::uint64_t> sizes)
    : ranks_(ranks), kernel_(k), sizes_(std::move(sizes)) {
  const auto n = static_cast<std::size_t>(ranks);
  records_.assign(sizes_.size() * n * n, nothing);
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

std::vector<double> results::matrix(std::size_t size_index, metric m) const {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(ranks_));
  for (int r = 0; r < ranks_; ++r) {
    for (int p = 0; p < ranks_; ++p) {
      const spread& time = at(size_index, r, p).time;
      out.push_back(m == metric::time_min      ? time.min
                    : m == metric::time_median ? time.median
                    : m == metric::time_max
                        ? time.max
                        : bytes_per_second(kernel_, sizes_[size_index], time.median));
    }
  }
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

std::vector<slow_pair> results::slowest(std::size_t size_index, std::size_t count) const {
  const double usual = summary(size_index, metric::time_median).median;
  std::vector<slow_pair> all;
  for (int r = 0; r < ranks_; ++r) {
    for (int p = 0; p < ranks_; ++p) {
      const double time = at(size_index, r, p).time.median;
      if (!std::isnan(time))
        all.push_back(
            {r, p, time, bytes_per_second(kernel_, sizes_[size_index], time), time / usual});
    }
  }
  const auto kept = static_cast<std::ptrdiff_t>(std::min(count, all.size()));
  std::partial_sort(all.begin(), all.begin() + kept, all.end(),
                    [](const slow_pair& a, const slow_pair& b) { return a.time_s > b.time_s; });
  all.resize(static_cast<std::size_t>(kept));
  return all;
}

std::uint64_t results::count(pair_state state) const {
  std::uint64_t found = 0;
  for (std::size_t s = 0; s < sizes_.size(); ++s)
    for (int r = 0; r < ranks_; ++r)
      for (int p = 0; p < ranks_; ++p) found += r != p && at(s, r, p).state == state ? 1u : 0u;
  return found;
}

}  // namespace heddle::linktest
