// SPDX-License-Identifier: BSD-3-Clause
// job_meetings.h - the meetings of a job, and the clock by which ranks wait for each other in vain.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/event_loop.h"
#include "run/join_watch.h"
#include "run/meeting_place.h"
#include "run/meeting_rounds.h"

namespace heddle::tools {

/// One thread.
class job_meetings final : public meeting_place {
 public:
  using deliverer = std::function<void(const std::vector<meeting_rounds::reply>&)>;

  /// A rank wants the job to end.
  using ender = std::function<void(int rank, int status, const std::string& why)>;

  /// Answers go to `deliver`, which must not call back; lines for people to `tell`.
  job_meetings(event_loop& loop, int size, deliverer deliver, ender end_job,
               join_watch::teller tell);

  /// The process that the rank was started as, and where, for people.
  void process_started(int rank, pid_t process, const std::string& host) {
    joins_.process_started(rank, process, host);
  }

  [[nodiscard]] std::optional<int> join(int rank) override { return meetings_.join(rank); }
  void begin(int rank, int round, std::uint64_t limit_ms) override {
    joins_.begin(rank, round, limit_ms);
  }
  void joined(int rank) override { joins_.end(rank); }
  void call(int rank, int round, frame_kind what, blob payload) override;
  void abort(int rank, int status, const std::string& why) override { end_job_(rank, status, why); }
  void leave(int rank, int round, const std::string& why) override;
  void end(int rank, const std::string& why) override;

 private:
  void deliver();
  void count_seconds();

  event_loop& loop_;
  meeting_rounds meetings_;
  join_watch joins_;
  deliverer deliver_;
  ender end_job_;
  bool counting_ = false;  ///< a timer for joins_ is set
};

}  // namespace heddle::tools
