// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heddle/status.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace heddle::linktest {
namespace {

constexpr std::string_view mark = ".rail";
constexpr const char* usual_ones = "auto";

std::optional<int> rail_from(std::string_view digits) {
  int rail = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, rail);
  if (problem != std::errc{} || stop != end || rail < 0 || rail >= most_rails) return std::nullopt;
  return rail;
}

struct rail_range {
  std::string backend;
  int first = -1, last = -1;
};

/// Of "x.rail1" or "x.rail0-3".
std::optional<rail_range> range_in(const std::string& word) {
  const std::size_t at = word.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view numbers = std::string_view(word).substr(at + mark.size());
  const std::size_t dash = std::min(numbers.find('-'), numbers.size());
  const auto first = rail_from(numbers.substr(0, dash));
  const auto last = dash == numbers.size() ? first : rail_from(numbers.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return rail_range{word.substr(0, at), *first, *last};
}

std::vector<std::string> layers_of_word(const std::string& word,
                                        const std::vector<std::string>& backends) {
  const auto known = [&backends](const std::string& name) {
    return std::find(backends.begin(), backends.end(), name) != backends.end();
  };
  if (word == usual_ones || known(word)) return {word};
  const std::optional<rail_range> rails = range_in(word);
  if (!rails || !known(rails->backend))
    throw error(
        fmt::format("'{}' is not accepted; give some of {}, {}, or of one of these but {} single "
                    "rails, counted from 0, such as {}{}0 or {}{}0-1",
                    word, usual_ones, fmt::join(backends, ", "), usual_ones, backends.front(), mark,
                    backends.front(), mark));
  std::vector<std::string> out;
  for (int rail = rails->first; rail <= rails->last; ++rail)
    out.push_back(name_of(layer{rails->backend, rail}));
  return out;
}

}  // namespace

layer layer_named(std::string_view name) {
  const std::optional<rail_range> found = range_in(std::string(name));
  if (!found || found->first != found->last) return {std::string(name)};
  return {found->backend, found->first};
}

std::string name_of(const layer& of) {
  return of.rail < 0 ? of.backend : fmt::format("{}{}{}", of.backend, mark, of.rail);
}

std::vector<std::string> layers_in(const std::string& list,
                                   const std::vector<std::string>& backends) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    for (std::string& name : layers_of_word(list.substr(from, comma - from), backends))
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
    from = comma + 1;
  }
  return out;
}

std::string in_words(const std::string& layer, const std::vector<std::string>& routes) {
  return layer == usual_ones ? fmt::format("{}", fmt::join(routes, " and ")) : layer;
}

bool is_over(std::string_view route, const layer& of) {
  return route == of.backend ||
         (route.starts_with(of.backend) && route.substr(of.backend.size()).starts_with('.'));
}

}  // namespace heddle::linktest
