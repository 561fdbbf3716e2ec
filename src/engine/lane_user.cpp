// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_user.h"

#include <sched.h>
#include <unistd.h>

#include "protocols/delivery.h"

namespace heddle::engine {

using protocols::delivery_batch;

void lane_user::open(bool exclusive) noexcept {
  core_ = sched_getcpu();
  opener_.set(static_cast<std::uint64_t>(gettid()));
  user_.set(exclusive ? reinterpret_cast<std::uintptr_t>(&delivery_batch::mine()) : anybody);
}

/// Completions and handlers use any lane, wherever they run.
void lane_user::check_use() const noexcept {
  const delivery_batch& batch = delivery_batch::mine();
  const std::uintptr_t user = user_.get();
  if (user == anybody || user == reinterpret_cast<std::uintptr_t>(&batch) || batch.running())
    return;
  if (user == nobody)
    sync::end_for_misuse(place_, "a lane is used after its end",
                         "keep the heddle::lane until then");
  sync::end_for_misuse(place_, "a second thread uses a lane that was opened exclusive",
                       "open it without `exclusive`, or give that thread a lane of its own");
}

/// A completion that waits may wait for something that its own thread would have to do.
void lane_user::check_wait() const noexcept {
  if (delivery_batch::mine().running())
    sync::end_for_misuse(place_, "a blocking call inside a completion, a handler or a task",
                         "post with try_* there, or co_await (docs/guide/threads.md)");
  check_use();
}

}  // namespace heddle::engine
