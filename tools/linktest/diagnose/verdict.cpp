// SPDX-License-Identifier: BSD-3-Clause
// verdict.cpp - a diagnosis in words.
#include "linktest/diagnose/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace heddle::linktest {
namespace {

std::string name_in(const std::vector<std::string>& names, int node) {
  const auto index = static_cast<std::size_t>(node);
  return index < names.size() ? names[index] : fmt::format("node {}", node);
}

std::string accused(const verdict& v, const std::vector<std::string>& names) {
  if (!v.cable.empty()) return v.cable;
  std::string who = name_in(names, v.node);
  if (v.rail >= 0) who += fmt::format(", rail {}", v.rail);
  if (v.peer >= 0) who += " -> " + name_in(names, v.peer);
  return who;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string coverage_line(const coverage& c) {
  std::string text = fmt::format(
      "Looked at {} of {} ordered pairs ({:.4g} %), {} of {} nodes with two partners or more",
      c.pairs, c.possible_pairs, share(c.pairs, c.possible_pairs), c.nodes, c.all_nodes);
  if (c.all_links > 0)
    text += fmt::format(", {} of {} links ({:.4g} %)", c.links, c.all_links,
                        share(c.links, c.all_links));
  text += fmt::format("; {} retests", c.retests);
  if (c.more_contention > 0) text += fmt::format(", {} more contentions", c.more_contention);
  if (c.not_retested > 0) text += fmt::format(", {} suspects not retested", c.not_retested);
  return text + '\n';
}

}  // namespace

std::string_view name_of(culprit what) noexcept {
  constexpr std::array<std::string_view, 6> names{"node_tx", "node_rx", "node",
                                                  "rail",    "link",    "contention"};
  return names[static_cast<std::size_t>(what)];
}

bool found_slow_part(const diagnosis& d) noexcept {
  return std::any_of(d.verdicts.begin(), d.verdicts.end(),
                     [](const verdict& v) { return v.what != culprit::contention; });
}

std::vector<std::string> names_of_ranks(const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    names.push_back(fmt::format("rank {} ({})", r, hosts[r]));
  return names;
}

std::string in_words(const verdict& v, const std::vector<std::string>& names) {
  std::string text =
      fmt::format("{}: {}: {:.2f} times as slow as usual, confidence {:.1f} %{}\n  {}\n",
                  name_of(v.what), accused(v, names), v.factor, 100 * v.confidence,
                  v.retested ? "" : ", not retested", v.evidence);
  if (!v.or_else.empty())
    text +=
        fmt::format("  These measurements cannot tell it from: {}\n", fmt::join(v.or_else, "; "));
  return text;
}

std::string in_words(const diagnosis& d, const std::vector<std::string>& names) {
  std::string text = d.verdicts.empty() ? "Nothing found\n" : "";
  for (const verdict& v : d.verdicts) text += in_words(v, names);
  return text + coverage_line(d.seen);
}

}  // namespace heddle::linktest
