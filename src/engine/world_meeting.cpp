// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_meeting.h"

#include <heddle/completion.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/meeting_wire.h"

namespace heddle::engine {
namespace {

using meeting_wire::failure;
using meeting_wire::gather_head;
using meeting_wire::nobody;
using meeting_wire::round_bits;

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

/// What a rank is guilty of that has sent something else than it should.
constexpr failure nonsense_of(rank peer) noexcept {
  return {peer, failure::reason::nonsense};
}

/// Sends `said` and receives as much as `heard` holds. A failure: that did not come, and will not.
///
/// A failed send needs no word: who should have received it will miss this rank, or is gone itself,
/// and is missed by those that hear from it.
failure trade(lane_core& lane, const partners& with, std::uint64_t round,
              std::span<const std::byte> said, std::span<std::byte> heard) {
  const tag t = meeting_wire::tag_bits | round;
  ending sent, received;
  post(lane, received, [&](const completion& c) noexcept {
    return lane.submitter().receive(with.from, t, heard, c);
  });
  post(lane, sent,
       [&](const completion& c) noexcept { return lane.submitter().send(with.to, t, said, c); });
  await(lane, received);
  await(lane, sent);
  const status how = received.what.code;
  if (how == status::done && received.what.bytes == heard.size()) return {};
  return how == status::done || how == status::truncated ? nonsense_of(with.from)
                                                         : failure{.of = with.from};
}

template <class T>
failure trade_one(lane_core& lane, const partners& with, std::uint64_t round, const T& said,
                  T& heard) {
  return trade(lane, with, round, std::as_bytes(std::span(&said, 1)),
               std::as_writable_bytes(std::span(&heard, 1)));
}

[[noreturn]] void fail_for(lane_core& lane, const failure& what) {
  if (what.why == failure::reason::nonsense)
    fail(
        "rank {} has sent what no rank sends when all meet: its memory is damaged, or it runs "
        "another version of Heddle",
        what.of);
  const std::string why = lane.why(what.of);
  fail("rank {} is gone{}{}", what.of, why.empty() ? "" : ": ", why);
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

/// False: these are not `count` parts, of which none is longer than a rank's may be, and no more.
bool unpack(std::span<const std::byte> text, std::size_t count, std::vector<blob>& behind) {
  for (; count != 0; --count) {
    std::uint32_t bytes = 0;
    if (text.size() < sizeof bytes) return false;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    text = text.subspan(sizeof bytes);
    if (bytes > bootstrap::protocol::max_blob_bytes || bytes > text.size()) return false;
    behind.emplace_back(text.begin(), text.begin() + bytes);
    text = text.subspan(bytes);
  }
  return text.empty();
}

/// Tells what this rank knows, unless that `failed`, and adds to `known` what as many other ranks
/// give, `count`. Both messages go and come in any case, but no more of what comes is read than is
/// believed.
failure gather_round(lane_core& lane, const partners& with, std::uint64_t round,
                     const failure& failed, std::size_t count, std::vector<blob>& known) {
  const blob said = failed ? blob{} : packed(std::span(known).first(count));
  gather_head head;
  failure wrong = trade_one(lane, with, round, gather_head{said.size(), failed}, head);
  if (!wrong && !head.sound(lane.ranks(), count)) wrong = nonsense_of(with.from);
  blob heard(wrong ? 0 : head.bytes);
  const failure missed = trade(lane, with, round + 1, said, heard);
  if (wrong) return wrong;
  if (head.failed) return head.failed;
  if (missed || failed) return missed;
  return unpack(heard, count, known) ? failure{} : nonsense_of(with.from);
}

}  // namespace

/// What travels.
struct world_meeting::news {
  claim_range claims;
  failure failed = {};

  [[nodiscard]] bool sound(int ranks) const noexcept {
    const auto exists = [&](rank r) { return r >= 0 && r < ranks; };
    return failed.sound(ranks) && exists(claims.least_of) && exists(claims.greatest_of);
  }
  void add(const news& more) noexcept {
    claims.add(more.claims);
    if (!failed) failed = more.failed;
  }
};

std::optional<dissent> world_meeting::meet(lane_core& lane, const claim& mine) {
  news known{.claims = {mine, lane.self()}};
  std::uint64_t round = meetings_++ << round_bits;
  for (int distance = 1; distance < lane.ranks(); distance *= 2)
    swap(lane, distance, round++, known);
  if (known.failed) fail_for(lane, known.failed);
  return known.claims.dissent_from(mine);
}

/// A rank that fails goes through all rounds, so that nobody waits for it.
void world_meeting::swap(lane_core& lane, int distance, std::uint64_t round, news& known) {
  const int ranks = lane.ranks();
  const partners with{.to = (lane.self() + distance) % ranks,
                      .from = (lane.self() - distance + ranks) % ranks};
  const news said = known;
  news heard = known;
  failure wrong = trade_one(lane, with, round, said, heard);
  if (!wrong && !heard.sound(ranks)) wrong = nonsense_of(with.from);
  if (!wrong)
    known.add(heard);
  else if (!known.failed)
    known.failed = wrong;
}

/// Before the round of some distance a rank knows what that many ranks give, from itself on.
bootstrap::gathered world_meeting::gather(lane_core& lane, std::span<const std::byte> mine) {
  const int ranks = lane.ranks(), self = lane.self();
  std::vector<blob> known{blob(mine.begin(), mine.end())};
  std::uint64_t round = meetings_++ << round_bits;
  failure failed;
  if (mine.size() > bootstrap::protocol::max_blob_bytes) failed = nonsense_of(self);
  for (int distance = 1; distance < ranks; distance *= 2, round += 2) {
    const partners with{.to = (self - distance + ranks) % ranks, .from = (self + distance) % ranks};
    const auto count = static_cast<std::size_t>(std::min(distance, ranks - distance));
    const failure wrong = gather_round(lane, with, round, failed, count, known);
    if (!failed) failed = wrong;
  }
  bootstrap::protocol::check_blob(mine);
  if (failed) fail_for(lane, failed);
  std::rotate(known.begin(), known.end() - self, known.end());
  return bootstrap::gathered(known);
}

}  // namespace heddle::engine
