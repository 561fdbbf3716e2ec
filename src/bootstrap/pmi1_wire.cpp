// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmi1_wire.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace heddle::bootstrap::pmi1 {
namespace {

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

/// Takes a number and the sign behind it off `text`.
std::optional<int> take_number(std::string_view& text, char behind) {
  int number = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(stop - text.data());
  if (problem != std::errc{} || number < 0 || length == text.size() || text[length] != behind)
    return {};
  text.remove_prefix(length + 1);
  return number;
}

bool take(std::string_view& text, std::string_view wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(wanted.size());
  return true;
}

struct block {
  int first, nodes, ranks;
};

std::optional<std::vector<block>> blocks_of(std::string_view mapping) {
  if (!take(mapping, "(vector")) return {};
  std::vector<block> all;
  while (take(mapping, ",(")) {
    const auto first = take_number(mapping, ',');
    const auto nodes = first ? take_number(mapping, ',') : first;
    const auto ranks = nodes ? take_number(mapping, ')') : nodes;
    if (!ranks || *nodes == 0 || *ranks == 0) return {};
    all.push_back({*first, *nodes, *ranks});
  }
  if (mapping != ")" || all.empty()) return {};
  return all;
}

/// The node of each of `size` ranks.
std::vector<long> nodes_of(const std::vector<block>& blocks, std::size_t size) {
  std::vector<long> nodes;
  while (nodes.size() < size)
    for (const block& b : blocks)
      for (long node = 0; node < b.nodes && nodes.size() < size; ++node)
        for (int rank = 0; rank < b.ranks && nodes.size() < size; ++rank)
          nodes.push_back(b.first + node);
  return nodes;
}

}  // namespace

std::size_t piece_bytes(std::size_t vallen_max) noexcept {
  constexpr std::size_t number = 16;
  return std::min(vallen_max, max_line_bytes / 2) - number;
}

std::optional<words> parse(std::string_view line) {
  if (line.size() > max_line_bytes || !std::ranges::all_of(line, is_printable)) return {};
  words all;
  while (!line.empty()) {
    if (line.front() == ' ') {
      line.remove_prefix(1);
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return {};
    const std::string_view name = line.substr(0, equals);
    if (name.empty() || name.find(' ') != std::string_view::npos) return {};
    const std::size_t end = name == "value" ? line.size() : std::min(line.find(' '), line.size());
    const bool fresh = all.emplace(name, line.substr(equals + 1, end - equals - 1)).second;
    if (!fresh) return {};
    line.remove_prefix(end);
  }
  if (!all.contains("cmd")) return {};
  return all;
}

std::optional<std::string> line_cutter::next() {
  const std::size_t end = buffered_.find('\n');
  if (end == std::string::npos) return {};
  std::string line = buffered_.substr(0, end);
  buffered_.erase(0, end + 1);
  return line;
}

std::optional<int> ranks_beside(std::string_view mapping, int rank, int size) {
  const auto blocks = blocks_of(mapping);
  if (!blocks || rank < 0 || rank >= size) return {};
  const auto nodes = nodes_of(*blocks, static_cast<std::size_t>(size));
  return static_cast<int>(std::ranges::count(nodes, nodes[static_cast<std::size_t>(rank)]));
}

}  // namespace heddle::bootstrap::pmi1
