// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_meeting.h"

#include <heddle/completion.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace heddle::engine {
namespace {

/// Among the tags that programs cannot use, those that collectives do not get to: theirs count from
/// 0, and 2^46 of them come first.
constexpr tag meeting_tag_bit = tag{1} << 62;
constexpr unsigned round_bits = 16;
constexpr rank nobody = -1;

/// An operation's end, waited for by this thread. Not a flag: those are the program's, whose use of
/// lane 0 HEDDLE_CHECKS watches.
struct ending {
  detail::signal raised;
  outcome what;

  static void deliver(void* owner, std::uint64_t, const outcome& how) noexcept {
    auto& self = *static_cast<ending*>(owner);
    self.what = how;
    self.raised.raise();  // last: the waiter may be gone then
  }
  [[nodiscard]] completion told() noexcept { return {&ending::deliver, this, 0}; }
};

/// Posts by `attempt` until that is accepted.
template <class Attempt>
void post(lane_core& lane, ending& end, Attempt&& attempt) {
  status s = attempt(end.told());
  while (is_busy(s)) {
    lane.make_room();
    s = attempt(end.told());
  }
  if (s == status::posted) return;
  end.what.code = s;
  end.raised.raise();
}

void await(lane_core& lane, ending& end) {
  if (!lane.waiter().wait(end.raised, 1, 0)) fail("the world has ended meanwhile");
}

/// Whom a round tells something, and from whom it learns.
struct partners {
  rank to, from;
};

/// Sends `said` and receives as much as `heard` holds. False: that did not come, and will not.
///
/// A failed send needs no word: who should have received it will miss this rank, or is gone itself,
/// and is missed by those that hear from it.
bool trade(lane_core& lane, const partners& with, std::uint64_t round,
           std::span<const std::byte> said, std::span<std::byte> heard) {
  const tag t = reserved_tag_bit | meeting_tag_bit | round;
  ending sent, received;
  post(lane, received, [&](const completion& c) noexcept {
    return lane.submitter().receive(with.from, t, heard, c);
  });
  post(lane, sent,
       [&](const completion& c) noexcept { return lane.submitter().send(with.to, t, said, c); });
  await(lane, received);
  await(lane, sent);
  return received.what.code == status::done && received.what.bytes == heard.size();
}

template <class T>
bool trade_one(lane_core& lane, const partners& with, std::uint64_t round, const T& said,
               T& heard) {
  return trade(lane, with, round, std::as_bytes(std::span(&said, 1)),
               std::as_writable_bytes(std::span(&heard, 1)));
}

[[noreturn]] void fail_for_lost(lane_core& lane, rank lost) {
  const std::string why = lane.why(lost);
  fail("rank {} is gone{}{}", lost, why.empty() ? "" : ": ", why);
}

// --- what ranks give in a gathering ----------------------------------------------------

using bootstrap::blob;

/// Each with its length, 4 bytes, before it.
blob packed(std::span<const blob> all) {
  blob text;
  for (const blob& b : all) {
    const auto bytes = static_cast<std::uint32_t>(b.size());
    const auto head = std::as_bytes(std::span(&bytes, 1));
    text.insert(text.end(), head.begin(), head.end());
    text.insert(text.end(), b.begin(), b.end());
  }
  return text;
}

void unpack(std::span<const std::byte> text, std::vector<blob>& behind) {
  while (text.size() >= sizeof(std::uint32_t)) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    text = text.subspan(sizeof bytes);
    const auto part = text.first(std::min<std::size_t>(bytes, text.size()));
    behind.emplace_back(part.begin(), part.end());
    text = text.subspan(part.size());
  }
}

/// What goes before a round's parts: how long they are, and whom the sender has lost.
struct gather_head {
  std::uint64_t bytes = 0;
  rank lost = nobody;
  std::uint32_t unused = 0;
};

}  // namespace

/// What travels, in the byte order of the machine: all ranks of a job share one.
struct world_meeting::news {
  claim least, greatest;
  rank least_of = nobody, greatest_of = nobody;
  rank lost = nobody;
  std::uint32_t unused = 0;

  void add(const news& more) noexcept {
    if (more.least < least) least = more.least, least_of = more.least_of;
    if (greatest < more.greatest) greatest = more.greatest, greatest_of = more.greatest_of;
    if (lost == nobody) lost = more.lost;
  }
};

std::optional<rank> world_meeting::meet(lane_core& lane, const claim& mine) {
  news known{.least = mine, .greatest = mine, .least_of = lane.self(), .greatest_of = lane.self()};
  std::uint64_t round = meetings_++ << round_bits;
  for (int distance = 1; distance < lane.ranks(); distance *= 2)
    swap(lane, distance, round++, known);
  if (known.lost != nobody) fail_for_lost(lane, known.lost);
  if (known.least != mine) return known.least_of;
  if (known.greatest != mine) return known.greatest_of;
  return {};
}

/// A rank that fails goes through all rounds, so that nobody waits for it.
void world_meeting::swap(lane_core& lane, int distance, std::uint64_t round, news& known) {
  const int ranks = lane.ranks();
  const partners with{.to = (lane.self() + distance) % ranks,
                      .from = (lane.self() - distance + ranks) % ranks};
  const news said = known;
  news heard;
  if (trade_one(lane, with, round, said, heard))
    known.add(heard);
  else if (known.lost == nobody)
    known.lost = with.from;
}

/// Before the round of some distance a rank knows what that many ranks give, from itself on.
bootstrap::gathered world_meeting::gather(lane_core& lane, std::span<const std::byte> mine) {
  const int ranks = lane.ranks(), self = lane.self();
  std::vector<blob> known{blob(mine.begin(), mine.end())};
  std::uint64_t round = meetings_++ << round_bits;
  rank lost = nobody;
  for (int distance = 1; distance < ranks; distance *= 2) {
    const partners with{.to = (self - distance + ranks) % ranks, .from = (self + distance) % ranks};
    const auto count = static_cast<std::size_t>(std::min(distance, ranks - distance));
    const blob said = lost == nobody ? packed(std::span(known).first(count)) : blob{};
    gather_head heard_of;
    if (!trade_one(lane, with, round++, gather_head{said.size(), lost}, heard_of))
      heard_of = {.lost = with.from};
    blob heard(heard_of.bytes);
    if (!trade(lane, with, round++, said, heard) && heard_of.lost == nobody)
      heard_of.lost = with.from;
    if (lost == nobody) lost = heard_of.lost;
    unpack(heard, known);
  }
  if (lost != nobody) fail_for_lost(lane, lost);
  if (known.size() != static_cast<std::size_t>(ranks))
    fail("the ranks are not all at the same call that waits for every rank");
  std::rotate(known.begin(), known.end() - self, known.end());
  return bootstrap::gathered(known);
}

}  // namespace heddle::engine
