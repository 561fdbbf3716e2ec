// SPDX-License-Identifier: BSD-3-Clause
// halves.cpp - seats: those of the first half, then those of the second.
#include "linktest/plan/halves.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace heddle::linktest {
namespace {

using how = halves_choice::how;

/// All but how::given, whose text is the ranks of one half.
constexpr std::array<std::pair<std::string_view, how>, 5> words{{{"none", how::none},
                                                                 {"first", how::by_rank},
                                                                 {"random", how::by_seed},
                                                                 {"hosts", how::by_host},
                                                                 {"groups", how::by_group}}};

/// `part_of` has the number of each rank's host, or group. The ranks of the lower half of these
/// numbers, rounded down; none where there is only one.
std::vector<int> lower_half(const std::vector<int>& part_of) {
  const std::set<int> parts(part_of.begin(), part_of.end());
  std::vector<int> out;
  if (parts.size() < 2) return out;
  const int second = *std::next(parts.begin(), static_cast<std::ptrdiff_t>(parts.size() / 2));
  for (std::size_t r = 0; r < part_of.size(); ++r)
    if (part_of[r] < second) out.push_back(static_cast<int>(r));
  return out;
}

}  // namespace

halves_choice parse_halves(const std::string& text) {
  for (const auto& [word, what] : words)
    if (text == word) return {what, {}};
  constexpr int most = 10'000'000;
  halves_choice out{how::given, {}};
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](int& into) {
    const auto [stop, problem] = std::from_chars(at, end, into);
    const bool right = problem == std::errc{} && into >= 0 && into < most;
    at = stop;
    return right;
  };
  while (true) {
    int low = 0;
    bool right = number(low);
    int high = low;
    if (right && at != end && *at == '-') {
      ++at;
      right = number(high);
    }
    if (!right || high < low || (at != end && *at != ','))
      throw error(
          fmt::format("'{}' is not half of the ranks; give first, random, hosts, groups, or ranks "
                      "such as 0-3,8",
                      text));
    for (int r = low; r <= high; ++r) out.first.push_back(r);
    if (at == end) break;
    ++at;
  }
  std::sort(out.first.begin(), out.first.end());
  out.first.erase(std::unique(out.first.begin(), out.first.end()), out.first.end());
  return out;
}

std::string text_of(const halves_choice& halves) {
  for (const auto& [word, what] : words)
    if (halves.what == what) return std::string(word);
  std::string out;
  for (std::size_t i = 0; i < halves.first.size();) {
    const int low = halves.first[i];
    int high = low;
    while (++i < halves.first.size() && halves.first[i] == high + 1) ++high;
    const char* const comma = out.empty() ? "" : ",";
    out += low == high ? fmt::format("{}{}", comma, low) : fmt::format("{}{}-{}", comma, low, high);
  }
  return out;
}

halves_choice for_hosts(halves_choice choice, const std::vector<int>& host_of,
                        const std::vector<int>& group_of) {
  if (choice.what == how::by_host) choice.first = lower_half(host_of);
  if (choice.what == how::by_group) choice.first = lower_half(group_of);
  return choice;
}

std::string halves::problem_with(const halves_choice& choice, int ranks) {
  if (choice.what == how::by_host && choice.first.empty())
    return "--bisection hosts: all ranks run on one host: start some on others, or give first";
  if (choice.what == how::by_group && choice.first.empty())
    return "--bisection groups: all hosts are in one group: take hosts of others, or give hosts";
  if (choice.what != how::given) return {};
  if (choice.first.back() >= ranks)
    return fmt::format("--bisection names rank {}, and the last of this job is {}",
                       choice.first.back(), ranks - 1);
  if (choice.first.size() == static_cast<std::size_t>(ranks))
    return "--bisection puts all ranks into one half: give the ranks of one";
  return {};
}

halves::halves(int ranks, halves_choice choice, std::uint64_t seed)
    : ranks_(ranks),
      choice_(std::move(choice)),
      order_(static_cast<std::uint64_t>(ranks), mix(seed)),
      first_(!choice_.first.empty() ? static_cast<std::int64_t>(choice_.first.size())
             : choice_.lower > 0    ? choice_.lower
                                    : ranks / 2),
      larger_(std::max(first_, ranks_ - first_)) {}

std::int64_t halves::seat_of(std::int64_t rank) const noexcept {
  if (choice_.what == how::by_rank) return rank;
  if (choice_.what == how::by_seed)
    return static_cast<std::int64_t>(order_.forward(static_cast<std::uint64_t>(rank)));
  const auto at = std::lower_bound(choice_.first.begin(), choice_.first.end(), rank);
  const std::int64_t before = at - choice_.first.begin();
  return at != choice_.first.end() && *at == rank ? before : first_ + rank - before;
}

std::int64_t halves::rank_at(std::int64_t seat) const noexcept {
  if (choice_.what == how::by_rank) return seat;
  if (choice_.what == how::by_seed)
    return static_cast<std::int64_t>(order_.inverse(static_cast<std::uint64_t>(seat)));
  if (seat < first_) return choice_.first[static_cast<std::size_t>(seat)];
  // The rank that has so many of the second half before it: one more for each of the first half.
  const std::int64_t own = seat - first_;
  std::size_t before = 0, end = choice_.first.size();
  while (before < end) {
    const std::size_t middle = (before + end) / 2;
    if (choice_.first[middle] - static_cast<std::int64_t>(middle) <= own)
      before = middle + 1;
    else
      end = middle;
  }
  return own + static_cast<std::int64_t>(before);
}

std::int64_t halves::partner(int rank, std::int64_t step) const noexcept {
  const std::int64_t seat = seat_of(rank);
  const bool in_first = seat < first_;
  const std::int64_t own = in_first ? seat : seat - first_;
  const std::int64_t other = (step % larger_ - own + larger_) % larger_;
  if (other >= (in_first ? ranks_ - first_ : first_)) return idle;
  return rank_at(in_first ? first_ + other : other);
}

}  // namespace heddle::linktest
