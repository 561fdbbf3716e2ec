// SPDX-License-Identifier: BSD-3-Clause
// text_gathering.cpp - a length and a text from each rank.
#include "linktest/measure/text_gathering.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

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

/// Rank `to` is lost where it cannot be told.
void tell_or_lose(meeting& ranks, rank to, const std::string& text) {
  if (!ranks.lost(to) && !tell(ranks.wire(), to, text)) ranks.lose(to);
}

/// Empty: rank `from` is lost.
std::optional<std::string> hear_or_lose(meeting& ranks, rank from) {
  std::optional<std::string> text;
  if (!ranks.lost(from)) text = hear(ranks.wire(), from);
  if (!text) ranks.lose(from);
  return text;
}

}  // namespace

std::vector<std::string> gather_texts(meeting& ranks, const std::string& mine, rank to) {
  messenger& wire = ranks.wire();
  if (wire.self() != to) {
    tell_or_lose(ranks, to, mine);
    return {};
  }
  std::vector<std::string> all;
  for (rank r = 0; r < wire.size(); ++r)
    all.push_back(r == to ? mine : hear_or_lose(ranks, r).value_or(""));
  return all;
}

std::string share_text(meeting& ranks, const std::string& of_rank_0) {
  messenger& wire = ranks.wire();
  if (wire.self() != 0) return hear_or_lose(ranks, 0).value_or("");
  for (rank r = 1; r < wire.size(); ++r) tell_or_lose(ranks, r, of_rank_0);
  return of_rank_0;
}

std::vector<std::string> share_texts(meeting& ranks, const std::vector<std::string>& of_rank_0,
                                     rank heirs) {
  messenger& wire = ranks.wire();
  const auto texts_for = [&](rank r) { return r <= heirs ? wire.size() : 1; };
  std::vector<std::string> heard;
  if (wire.self() != 0) {
    for (int i = 0; i < texts_for(wire.self()); ++i)
      heard.push_back(hear_or_lose(ranks, 0).value_or(""));
    return heard;
  }
  for (rank r = 1; r < wire.size(); ++r)
    for (int i = 0; i < texts_for(r); ++i)
      tell_or_lose(ranks, r, of_rank_0[static_cast<std::size_t>(i)]);
  return heard;
}

}  // namespace heddle::linktest
