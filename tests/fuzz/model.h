// SPDX-License-Identifier: BSD-3-Clause
// model.h - what a plan promises: which bytes lie where, which message meets which receive, how an
// operation may end. Pure functions of the plan; nothing of Heddle is called.
#pragma once
#include <heddle/status.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/plan.h"

namespace heddle::fuzz {

/// Where a plan breaks the rules it needs in order to have only one result, and to end: accesses
/// that race, receives that nothing may match, waits in a ring. Empty: it keeps them all.
///
/// The rules. Within a phase
/// * two accesses to the same bytes, one of which writes, come from one thread on one lane, and
///   the first is blocking or followed by a flush or fence; words are touched by atomics only, of
///   one place and width;
/// * messages of one lane, target and group (the tag's upper bits) are received by one thread,
///   every receive of the group accepts each of them and no message of another group; there are
///   enough receives, also if every cancel succeeds;
/// * an operation is blocking only where those before it in the plan are enough to end it, so that
///   waits cannot form a ring;
/// * where messages may be lost, receives are not blocking, so that they can be taken back;
/// * fewer receives and sends are in flight on a lane than it has records for.
[[nodiscard]] std::string why_not(const plan& p);

// --- memory -------------------------------------------------------------------------------------

/// Bytes [begin, end) of an area were written by step `writer`, whose first byte lies at `start`.
struct extent {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t start = 0;
  int writer = nobody;
  static constexpr int nobody = -1;     ///< the bytes are zero
  static constexpr int uncertain = -2;  ///< by an operation that failed: they may be anything
};

/// What the bytes behind the words are before step number `before` of plan.steps takes place, in
/// order and without gaps: rank `owner`'s part of `a`. `succeeded`: whether a put was done.
[[nodiscard]] std::vector<extent> contents(
    const plan& p, const area& a, int owner, std::size_t before,
    const std::function<bool(const step&)>& succeeded = [](const step&) { return true; });
/// Offset of the first byte in [at, at + found.size()) that is not as `expected` says.
[[nodiscard]] std::optional<std::uint64_t> first_wrong(std::span<const extent> expected,
                                                       std::span<const std::byte> found,
                                                       std::uint64_t at);

/// An atomic that took place on a word: `old` is what it fetched.
struct word_access {
  int op = 0;
  std::uint64_t operand = 0, compare = 0;
  std::optional<std::uint64_t> old;
  bool certain = true;  ///< false: it may not have taken place (its peer was lost)
};

/// Half of the atomics do not fetch, where the form leaves that open.
[[nodiscard]] bool fetches(const step& s);

/// Whether the accesses, in some order, lead from `first` to `last` with each fetching what it
/// says.
[[nodiscard]] bool explains(std::uint64_t first, std::span<const word_access> accesses,
                            std::uint64_t last, int width);

// --- messages -----------------------------------------------------------------------------------

/// The messages and receives of one phase, lane, target and group, each in the order of the plan.
struct group {
  int phase = 0, lane = 0, to = 0;
  std::uint64_t number = 0;
  std::vector<const step*> sends, receives;
};
[[nodiscard]] std::vector<group> groups(const plan& p);
[[nodiscard]] constexpr std::uint64_t group_of(std::uint64_t tag) {
  return tag >> 8;
}

/// A number that differs for different bytes, as good as always.
[[nodiscard]] std::uint64_t digest(std::span<const std::byte> bytes);
/// The digest of the first `bytes` of what step `id` sends.
[[nodiscard]] std::uint64_t digest_of(int id, std::uint64_t bytes);

// --- collectives and mistakes -------------------------------------------------------------------

/// Item `i` of what `rank` gives to a reduction.
[[nodiscard]] std::uint64_t item_of(const step& s, int rank, std::size_t i);
[[nodiscard]] std::uint64_t reduced(const step& s, const std::vector<int>& members, std::size_t i);

/// How a mistake must end.
[[nodiscard]] status answer_to(mistake m);

/// What a plan arranges for a rank.
enum class prospect : std::uint8_t {
  good,    ///< nothing: what it does with others of good prospect succeeds
  weak,    ///< it runs out of something: its operations may be refused, but none is lost
  mortal,  ///< it dies, stops or is cut off: operations with it may fail
};
[[nodiscard]] prospect prospect_of(const plan& p, int rank);

}  // namespace heddle::fuzz
