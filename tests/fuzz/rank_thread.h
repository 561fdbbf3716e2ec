// SPDX-License-Identifier: BSD-3-Clause
// rank_thread.h - one thread of a rank: its steps of a phase, one after the other, and their ends.
#pragma once
#include <heddle/heddle.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "fuzz/board.h"
#include "fuzz/model.h"
#include "fuzz/plan.h"
#include "fuzz/rank_memory.h"
#include "fuzz/rank_ops.h"

namespace heddle::fuzz {

/// A rank's lanes by number. A thread changes only the entries of lanes that it uses alone.
using lane_table = std::map<int, std::unique_ptr<lane>>;
/// The groups of the shared lanes by their numbers: those that this rank is in.
using group_table = std::map<int, heddle::group>;

class rank_thread {
 public:
  rank_thread(const plan& p, const board& facts, world& w, lane_table& lanes, group_table& members,
              const rank_memory& memory, int number)
      : plan_(p),
        facts_(facts),
        world_(w),
        lanes_(lanes),
        members_(members),
        memory_(memory),
        number_(number),
        groups_(groups(p)) {}

  /// Does this thread's steps of the phase and returns when each has ended.
  void run(int phase);

 private:
  using attempt = std::function<status()>;

  void run(const step& s);
  void operate(const step& s);
  status post_or_end_shortage(slot& s);
  void take(slot& s, status answer);
  void end(slot& s, const outcome& how);
  /// Asks again, in one of the ways that the API has, for as long as the answer is busy.
  status insist(const step& s, const attempt& ask);
  completion completion_of(slot& s);

  // What is not an operation with a completion.
  void wait_for_order(const step& s);
  void cancel(const step& s);
  void probe(const step& s);
  void err(const step& s);
  void harm(const step& s);
  void reopen(const step& s);

  /// Waits for the ends of all.
  void settle();
  void await(slot& s);
  void finish(slot& s);
  void finish_counted();
  void sweep();
  void await_message(slot& s);
  [[nodiscard]] bool has_ended(slot& s);
  [[nodiscard]] bool will_never_match(const step& receive) const;
  void take_back(slot& s);
  void drain_queue();

  lane& on(const step& s) { return *lanes_.at(s.lane); }
  record& facts_of(const step& s) { return facts_.of(s.id, world_.rank()); }

  const plan& plan_;
  const board& facts_;
  world& world_;
  lane_table& lanes_;
  group_table& members_;
  const rank_memory& memory_;
  const int number_;
  const std::vector<group> groups_;

  // Of the phase that runs.
  std::deque<slot> slots_;
  std::unique_ptr<counter> counted_;
  std::vector<slot*> by_counter_;
  std::unique_ptr<completion_queue> queue_;
};

}  // namespace heddle::fuzz
