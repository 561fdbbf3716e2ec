// SPDX-License-Identifier: BSD-3-Clause
// text_gathering.cpp - a length and a text from each rank.
#include "linktest/measure/text_gathering.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace heddle::linktest {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;

bool tell(messenger& wire, rank to, const std::string& text) {
  const std::uint64_t length = text.size();
  return wire.send(to, tag_for(purpose::texts, 0), std::as_bytes(std::span(&length, 1))) ==
             status::done &&
         wire.send(to, tag_for(purpose::texts, 1), std::as_bytes(std::span(text))) == status::done;
}

std::optional<std::string> hear(messenger& wire, rank from) {
  std::uint64_t length = 0;
  if (wire.recv(from, tag_for(purpose::texts, 0), std::as_writable_bytes(std::span(&length, 1)),
                patience::meeting) != status::done ||
      length > most_bytes)
    return std::nullopt;
  std::string text(length, '\0');
  if (wire.recv(from, tag_for(purpose::texts, 1), std::as_writable_bytes(std::span(text)),
                patience::meeting) != status::done)
    return std::nullopt;
  return text;
}

}  // namespace

std::vector<std::string> gather_texts(meeting& ranks, const std::string& mine, rank to) {
  messenger& wire = ranks.wire();
  if (wire.self() != to) {
    if (!ranks.lost(to) && !tell(wire, to, mine)) ranks.lose(to);
    return {};
  }
  std::vector<std::string> all;
  for (rank r = 0; r < wire.size(); ++r) {
    std::optional<std::string> text;
    if (r == to)
      text = mine;
    else if (!ranks.lost(r))
      text = hear(wire, r);
    if (!text) ranks.lose(r);
    all.push_back(text.value_or(""));
  }
  return all;
}

std::string share_text(meeting& ranks, const std::string& of_rank_0) {
  messenger& wire = ranks.wire();
  if (wire.self() != 0) {
    const auto text = ranks.lost(0) ? std::nullopt : hear(wire, 0);
    if (!text) ranks.lose(0);
    return text.value_or("");
  }
  for (rank r = 1; r < wire.size(); ++r)
    if (!ranks.lost(r) && !tell(wire, r, of_rank_0)) ranks.lose(r);
  return of_rank_0;
}

std::vector<std::string> share_texts(meeting& ranks, const std::vector<std::string>& of_rank_0,
                                     rank heirs) {
  messenger& wire = ranks.wire();
  const auto texts_for = [&](rank r) { return r <= heirs ? wire.size() : 1; };
  std::vector<std::string> heard;
  if (wire.self() != 0) {
    for (int i = 0; i < texts_for(wire.self()) && !ranks.lost(0); ++i) {
      std::optional<std::string> text = hear(wire, 0);
      if (!text) ranks.lose(0);
      heard.push_back(std::move(text).value_or(""));
    }
    return heard;
  }
  for (rank r = 1; r < wire.size(); ++r)
    for (int i = 0; i < texts_for(r) && !ranks.lost(r); ++i)
      if (!tell(wire, r, of_rank_0[static_cast<std::size_t>(i)])) ranks.lose(r);
  return heard;
}

}  // namespace heddle::linktest
