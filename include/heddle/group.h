// SPDX-License-Identifier: BSD-3-Clause
// group.h - some of the ranks, with collectives of their own (collectives.h).
//
//   heddle::group row;
//   heddle::split(lane, me / columns, me % columns, row);  // collective: all ranks of the lane
//   heddle::allreduce(row, in, out, heddle::reduce_op::sum);
//
// A group's members have ranks of its own, from 0; roots and blocks of its collectives count by
// those. Its messages meet no others: collectives of groups that share members, and of all ranks,
// may be in flight at the same time on one lane. Each group's own are called in one order by all of
// its members.
#pragma once
#include <heddle/completion.h>
#include <heddle/coroutine.h>
#include <heddle/detail/membership.h>
#include <heddle/lane.h>
#include <heddle/status.h>
#include <heddle/task.h>
#include <heddle/types.h>

#include <concepts>
#include <memory>
#include <utility>

namespace heddle {

/// Some ranks of a world on one lane, or nobody. A handle that is cheap to move, also while
/// collectives are in flight. Must outlive its collectives; the lane must outlive it, and stay
/// where it is. Any thread may use it, as it may its lane.
class group {
 public:
  /// Of nobody. Its collectives answer `invalid`.
  group() = default;
  /// All ranks of `everyone`: the same as the lane itself, and its collectives are the lane's.
  explicit group(lane& everyone) noexcept : lane_(&everyone) {}
  /// For Heddle itself.
  group(lane& on, std::unique_ptr<detail::membership> members) noexcept
      : lane_(&on), members_(std::move(members)) {}

  /// This process's rank in the group; -1 in a group of nobody.
  [[nodiscard]] rank self() const noexcept {
    if (members_ != nullptr) return members_->self();
    return lane_ != nullptr ? lane_->self() : -1;
  }
  /// How many members it has, this process among them; 0: nobody.
  [[nodiscard]] int ranks() const noexcept {
    if (members_ != nullptr) return members_->ranks();
    return lane_ != nullptr ? lane_->ranks() : 0;
  }
  /// The rank in the world of a rank in the group, for everything that is not a collective; -1:
  /// there is no such member.
  [[nodiscard]] rank world_rank(rank member) const noexcept {
    if (members_ != nullptr) return members_->world_rank(member);
    return member >= 0 && member < ranks() ? member : -1;
  }
  /// The other way round; -1: that rank is no member. Looks at them one by one.
  [[nodiscard]] rank member(rank world_rank) const noexcept {
    if (members_ != nullptr) return members_->member(world_rank);
    return world_rank >= 0 && world_rank < ranks() ? world_rank : -1;
  }
  /// The lane it is on; null: of nobody.
  [[nodiscard]] lane* on() const noexcept { return lane_; }
  /// Null: all ranks of the lane, or nobody. For Heddle itself.
  [[nodiscard]] detail::membership* members() const noexcept { return members_.get(); }

 private:
  lane* lane_ = nullptr;
  std::unique_ptr<detail::membership> members_;
};

/// Whose collective it is, where one is awaited: an async_lane stands for all its ranks, and
/// async_group(g) for the members of `g`. As cheap to copy as a pointer.
template <class Lane>
class basic_async_group {
 public:
  basic_async_group(basic_async_lane<Lane> everyone) noexcept  // NOLINT: it is one
      : lane_(&everyone.base()) {}
  explicit basic_async_group(group& of) noexcept requires std::same_as<Lane, heddle::lane>
      : lane_(of.on()), members_(of.members()) {}
  /// For Heddle itself. No lane: nobody; no `members`: all ranks of the lane.
  explicit basic_async_group(Lane* on, detail::membership* members = nullptr) noexcept
      : lane_(on), members_(members) {}

  /// As those of `group`.
  [[nodiscard]] rank self() const noexcept {
    if (members_ != nullptr) return members_->self();
    return lane_ != nullptr ? lane_->self() : -1;
  }
  [[nodiscard]] int ranks() const noexcept {
    if (members_ != nullptr) return members_->ranks();
    return lane_ != nullptr ? lane_->ranks() : 0;
  }
  [[nodiscard]] rank world_rank(rank member) const noexcept {
    return members_ != nullptr ? members_->world_rank(member) : member;
  }
  [[nodiscard]] Lane* on() const noexcept { return lane_; }
  /// What the tags of the next collective begin with: for Heddle itself.
  [[nodiscard]] tag next_tag() const noexcept {
    if (members_ != nullptr) return members_->next_tag();
    return lane_->next_collective() << detail::membership::round_bits;
  }

 private:
  Lane* lane_;
  detail::membership* members_ = nullptr;
};
using async_group = basic_async_group<lane>;

/// The same where one is waited for or started: a lane, which stands for all its ranks, or a group.
class any_group {
 public:
  any_group(lane& everyone) noexcept : what_(&everyone) {}  // NOLINT: it is one
  any_group(group& of) noexcept : what_(of) {}              // NOLINT: it is one
  operator async_group() const noexcept { return what_; }   // NOLINT: it is one
  [[nodiscard]] lane* on() const noexcept { return what_.on(); }

 private:
  async_group what_;
};

/// A color for ranks that want to be in no group.
inline constexpr int no_color = -1;

/// Collective of `parent`: its ranks that give the same `color` become a group, in the order of
/// `key` and, where that is equal, of their ranks in `parent`. Each rank's `into` becomes the group
/// it is in: of nobody with `no_color` or any other negative one. It must stay until the end, must
/// not be `parent`, and is unchanged where this fails. The new group is on the lane of `parent`,
/// and lives independently of it. One allgather of 16 bytes. Any number of groups in a program's
/// life; of those whose member 0 is one rank, at most 2^18 may live at a time. Statuses: as all
/// collectives'.
task<status> split(async_group parent, int color, int key, group& into);
status split(any_group parent, int color, int key, group& into) noexcept;
status try_split(any_group parent, int color, int key, group& into, completion ended) noexcept;

/// Collective of those ranks of `parent` that are alive: they agree on who they are, and `into`
/// becomes a group of them, in the order of their ranks in `parent`, also where nobody is lost.
/// All living ranks call it at the same place among the collectives of `parent`. So a program that
/// means to survive goes on through a step of its work whatever its collectives answer, for these
/// end at every living rank, and calls this at the end of the step: `into.ranks()` tells everyone
/// the same, and the step is done again in the new group if it is smaller.
///
/// done: whoever answers this has the same members. A rank that dies while they agree may or may
/// not be one. closed, invalid; `into` is unchanged then. Every rank sends every other two messages
/// of 9 bytes and a bit per rank, and two more each time that somebody is lost meanwhile.
task<status> survivors(async_group parent, group& into);
status survivors(any_group parent, group& into) noexcept;
status try_survivors(any_group parent, group& into, completion ended) noexcept;

}  // namespace heddle
