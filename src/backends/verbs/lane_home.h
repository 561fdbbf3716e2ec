// SPDX-License-Identifier: BSD-3-Clause
// lane_home.h - what of a lane the device's thread needs, too: the queues that its connections
// share, the ends of peers' streams, and a box for answers.
#pragma once
#include "backends/verbs/inlets.h"
#include "backends/verbs/lane_queues.h"
#include "backends/verbs/letter_box.h"

namespace heddle::transport::verbs {

struct lane_home {
  /// Throws error: what the card does not give.
  lane_home(const card& on, int number) : lane(number), queues(on), ends(queues) {}

  const int lane;
  const lane_queues queues;
  inlets ends;
  letter_box letters;
};

}  // namespace heddle::transport::verbs
