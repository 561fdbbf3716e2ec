// SPDX-License-Identifier: BSD-3-Clause
// lane_questions.h - what a thread wants to know of a lane now: whether there is news, what has
// arrived, what it waits for. None of it can be queued.
#pragma once
#include <heddle/completion.h>
#include <heddle/matched_message.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/lane_driver.h"
#include "engine/lane_end.h"
#include "engine/lane_server.h"
#include "protocols/port_report.h"

namespace heddle::engine {

/// Any thread.
class lane_questions {
 public:
  lane_questions(lane_driver& of, lane_server& server, const lane_end& end) noexcept
      : driver_(of),
        server_(server),
        end_(end),
        plainly_(!of.help().dedicated() && !of.help().only_inline()) {}

  /// The program's poll: it also tells the executor that the program looks after the lane.
  std::size_t poll() noexcept;
  status probe(rank source, const tag_match& match, outcome& found) noexcept;
  /// As probe, but takes the message out of matching.
  status take(rank source, const tag_match& match, detail::taken_message& found) noexcept;
  status cancel(const completion& which) noexcept;
  /// Adds what the lane counts of its peers. False: as report().
  [[nodiscard]] bool count(std::vector<peer_counters>& into);
  /// For people who ask what the lane waits for. False: a thread holds it, and goes on holding it.
  [[nodiscard]] bool report(std::uint64_t now_ns, protocols::port_report& found);

 private:
  template <class F>
  status look(F&& question) noexcept;
  template <class Question>
  bool ask(Question&& question);
  [[nodiscard, gnu::noinline]] bool may_poll() const noexcept;
  [[gnu::noinline]] std::size_t miss_poll() noexcept;
  [[nodiscard]] status busy_or_closed() const noexcept {
    return end_.has_come() ? status::closed : status::busy_lane;
  }

  lane_driver& driver_;
  lane_server& server_;
  const lane_end& end_;
  const bool plainly_;                 // polling is all that a poll does
  sync::shared_counter missed_polls_;  // somebody else held the lane
};

}  // namespace heddle::engine
