// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_end.h"

namespace heddle::engine {

void lane_end::come(protocols::delivery_batch& batch) noexcept {
  while (!driver_.hold().enter()) driver_.give_way();
  driver_.hold().retire();
  ended_.set(true);
  {
    const std::lock_guard lock(mutex_);
    while (!driver_.drain(batch)) {
    }
    driver_.port().abort(status::closed, batch);
  }
  batch.run();
}

void lane_end::end_queued(protocols::delivery_batch& batch) noexcept {
  {
    const std::lock_guard lock(mutex_);
    (void)driver_.commands().drain(lane_driver::queue_capacity, [&](const protocols::command& c) {
      batch.add(c.done, {.code = status::closed, .peer = c.peer});
    });
  }
  batch.run();
}

}  // namespace heddle::engine
