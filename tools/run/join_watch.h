// SPDX-License-Identifier: BSD-3-Clause
// join_watch.h - notices that ranks which join a job wait for others in vain: says whom they wait
// for, and gives up when they have waited for as long as they allow.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "run/meeting_rounds.h"

namespace heddle::tools {

/// One thread. Knows no clock: seconds are counted by tick(), so a launcher that was stopped for an
/// hour has not waited for an hour.
class join_watch {
 public:
  using teller = std::function<void(const std::string& line)>;

  /// Lines for people go to `tell`. `meetings` must outlive this.
  join_watch(meeting_rounds& meetings, int size, teller tell);

  /// Which process the rank was started as, and on which host, for people.
  void process_started(int rank, pid_t process, const std::string& host);
  /// From now on the rank joins in `round`, and waits for `limit_ms` (rounded up to seconds, and
  /// up to one more) in each meeting; 0: without limit.
  void begin(int rank, int round, std::uint64_t limit_ms);
  /// The rank has joined, or will not.
  void end(int rank);
  /// The rank is in a meeting that others have not come to, or no longer. Any rank, joining or not.
  void set_waiting(int rank, bool waits);
  [[nodiscard]] bool somebody_waits() const;

  /// Another second has passed. What is to be said is told; meetings that have lasted for too long
  /// are failed in the rounds, which has the replies. While there are ranks to be started none
  /// is, and those that wait are told so.
  void tick();

 private:
  struct member {
    pid_t process = 0;
    std::string host{};
    bool joins = false, waits = false;
    int round = 0;
    std::uint64_t limit_s = 0;
    std::uint64_t ticks = 0;  ///< since it waits: that many seconds have begun, one less are over
  };

  void look_at(int round, const member& longest);
  [[nodiscard]] std::string names_of(const std::vector<int>& ranks) const;

  meeting_rounds& meetings_;
  teller tell_;
  std::vector<member> members_;  ///< by rank
};

}  // namespace heddle::tools
