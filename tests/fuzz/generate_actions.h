// SPDX-License-Identifier: BSD-3-Clause
// generate_actions.h - the actions of a phase: short lists of steps that belong together.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "fuzz/generate_job.h"
#include "fuzz/plan.h"

namespace heddle::fuzz {

using action = std::vector<step>;

/// What the actions of a phase draw from, and what they have used up of it.
struct draws {
  plan& p;
  dice& d;
  const int phase;
  const weather sky;
  int next_id = p.ids();
  std::uint64_t groups = 0;                 ///< tags given out
  std::uint64_t spent = 0;                  ///< bytes of messages
  int harmed = 0;                           ///< ranks
  std::map<int, int> collective_threads{};  ///< by lane: whose collectives it carries

  /// A step with an id, and a caller who may use its lane.
  step blank(verb v);
  int lane_for(int thread);
  int thread_for(int lane);
  ending any_ending();
  /// Of those that do not wait.
  ending free_ending();
  /// A number that no other message of the plan uses; now and then as high as tags go.
  std::uint64_t new_tag();
  std::uint64_t message_size();
};

// An empty action: there is no place for it in this phase. The model has the last word.

/// Messages of one thread with one tag: order is promised, whatever the receives look like.
action stream(draws& in);
/// Large messages one way, bursts of small ones the other way on the same lane: what is waited for
/// and what is sent share the way to the peer.
action exchange(draws& in);
/// Messages of several ranks, each with a tag of its own, to receives that accept them all.
action crowd(draws& in);
/// More receives than messages, some of them taken back while the messages come.
action taken_back(draws& in);
action calls(draws& in);

/// Puts, and perhaps, behind a fence or flush, another over the same bytes, and a look at them.
action puts(draws& in);
action get(draws& in);
action notify(draws& in);
/// A few atomics on one word, of any ranks.
action words(draws& in);

action collectives(draws& in);
/// Time in which nothing is posted, or a lane is closed and opened again.
action lull(draws& in);
/// An argument that must be refused.
action error(draws& in);
/// What happens to a rank.
action harm(draws& in);

}  // namespace heddle::fuzz
