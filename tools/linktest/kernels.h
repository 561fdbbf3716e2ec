// kernels.h - the traffic that is timed: both sides of semi, bi and uni.
#pragma once
#include <cstdint>

#include "linktest/messenger.h"
#include "linktest/metrics.h"

namespace heddle::linktest {

/// Where one side's messages come from and go to.
struct kernel_buffers {
  std::span<const std::byte> send;  ///< one message
  std::span<std::byte> receive;     ///< one or more slots of send.size() bytes
};

/// One side of one measurement.
struct kernel_call {
  rank peer;
  bool initiator;
  std::uint64_t number;    ///< the same on both sides, and no other measurement's of this pair
  std::uint64_t messages;  ///< n >= 1
};

/// Runs one side; the peer runs the other. done, or the first failure.
status run_kernel(messenger& wire, kernel k, const kernel_call& call,
                  const kernel_buffers& buffers);

}  // namespace heddle::linktest
