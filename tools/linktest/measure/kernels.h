// SPDX-License-Identifier: BSD-3-Clause
// kernels.h - the traffic that is timed: both sides of semi, bi and uni, by any carrier.
#pragma once
#include <cstdint>
#include <span>

#include "linktest/measure/carrier.h"
#include "linktest/results/metrics.h"

namespace heddle::linktest {

/// One side of one measurement.
struct kernel_call {
  rank peer;
  bool initiator;
  std::uint64_t number;      ///< the same on both sides, and no other measurement's of this pair
  std::uint64_t messages;    ///< n >= 1
  std::uint64_t window = 1;  ///< uni: how many are in flight at most
};

/// Runs one side; the peer runs the other. done, or the first failure. Where messages are fetched
/// the initiator reads all of them, 2n in semi, one after the other; in bi both sides read 2n; in
/// uni it reads n, and their arrival is the receipt.
status run_kernel(const ways& by, kernel k, const kernel_call& call, const kernel_buffers& buffers);

/// How many answers the initiator gets for a message of the kernel's definition, where each has
/// one: those of a bounce in semi 1, in bi 2; of fetches always 2.
[[nodiscard]] constexpr std::uint64_t answers_per_message(kernel k, operation op) noexcept {
  return k == kernel::bi || op == operation::get ? 2 : 1;
}
/// The initiator's side of semi or bi with a look at the clock after each answer; the peer runs
/// run_kernel(). Into `times` go seconds per message, each less `look_s`; it has room for
/// call.messages * answers_per_message(). invalid: the kernel is uni, whose messages have no
/// answers.
status run_kernel_by_message(const ways& by, kernel k, const kernel_call& call,
                             const kernel_buffers& buffers, double look_s, std::span<float> times);

}  // namespace heddle::linktest
