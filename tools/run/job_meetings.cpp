// SPDX-License-Identifier: BSD-3-Clause
#include "run/job_meetings.h"

#include <utility>

namespace heddle::tools {
namespace {

constexpr std::uint64_t second_ms = 1000;

}  // namespace

job_meetings::job_meetings(event_loop& loop, int size, deliverer deliver, ender end_job,
                           join_watch::teller tell)
    : loop_(loop),
      meetings_(size),
      joins_(meetings_, size, std::move(tell)),
      deliver_(std::move(deliver)),
      end_job_(std::move(end_job)) {}

void job_meetings::call(int rank, int round, frame_kind what, blob payload) {
  joins_.set_waiting(rank, true);
  meetings_.call(rank, round, what, std::move(payload));
  deliver();
  count_seconds();
}

void job_meetings::leave(int rank, int round, const std::string& why) {
  joins_.end(rank);
  meetings_.leave(rank, round, why);
  deliver();
}

void job_meetings::end(int rank, const std::string& why) {
  joins_.end(rank);
  meetings_.end(rank, why);
  deliver();
}

void job_meetings::deliver() {
  const auto replies = meetings_.take_replies();
  for (const auto& reply : replies)
    if (reply.answers()) joins_.set_waiting(reply.rank, false);
  if (!replies.empty()) deliver_(replies);
}

void job_meetings::count_seconds() {
  if (counting_ || !joins_.somebody_waits()) return;
  counting_ = true;
  loop_.after(second_ms, [this] {
    counting_ = false;
    joins_.tick();
    deliver();
    count_seconds();
  });
}

}  // namespace heddle::tools
