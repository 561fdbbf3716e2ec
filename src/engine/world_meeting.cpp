#include "engine/world_meeting.h"

#include <heddle/completion.h>

#include <array>
#include <span>

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
  if (known.lost != nobody) {
    const std::string why = lane.why(known.lost);
    fail("rank {} is gone{}{}", known.lost, why.empty() ? "" : ": ", why);
  }
  if (known.least != mine) return known.least_of;
  if (known.greatest != mine) return known.greatest_of;
  return {};
}

/// A failed send needs no word: who should have received it will miss this rank, or is gone itself,
/// and is missed by those that hear from it. A rank that fails goes through all rounds, so that
/// nobody waits for it.
void world_meeting::swap(lane_core& lane, int distance, std::uint64_t round, news& known) const {
  const int ranks = lane.ranks();
  const rank to = (lane.self() + distance) % ranks;
  const rank from = (lane.self() - distance + ranks) % ranks;
  const tag t = reserved_tag_bit | meeting_tag_bit | round;
  const news said = known;
  news heard;
  ending sent, received;
  post(lane, received, [&](const completion& c) noexcept {
    return lane.submitter().receive(from, t, std::as_writable_bytes(std::span(&heard, 1)), c);
  });
  post(lane, sent, [&](const completion& c) noexcept {
    return lane.submitter().send(to, t, std::as_bytes(std::span(&said, 1)), c);
  });
  await(lane, received);
  await(lane, sent);
  const bool whole = received.what.code == status::done && received.what.bytes == sizeof heard;
  if (whole) {
    known.add(heard);
  } else if (known.lost == nobody) {
    known.lost = from;
  }
}

}  // namespace heddle::engine
