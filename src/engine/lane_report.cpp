// lane_report.cpp - what a lane tells a thread that only asks.
#include <unistd.h>

#include "engine/lane_core.h"

namespace heddle::engine {
namespace {

using protocols::delivery_batch;

constexpr int report_attempts = 100;
constexpr useconds_t between_attempts_us = 1000;

}  // namespace

/// Takes nothing on: what is queued meanwhile is left to others, who are told.
bool lane_core::report(std::uint64_t now_ns, protocols::port_report& found) {
  delivery_batch& batch = delivery_batch::mine();
  for (int i = 0; i < report_attempts; ++i) {
    if (dedicated()) asked_.set();
    if (!hold_.enter(&batch)) {
      usleep(between_attempts_us);
      continue;
    }
    found = port_.report(now_ns);
    hold_.commands().pending() ? hand_over(batch) : release(batch);
    batch.run();
    return true;
  }
  return false;
}

}  // namespace heddle::engine
