// SPDX-License-Identifier: BSD-3-Clause
// status.h - the answer of every non-blocking call, and the error that set-up throws.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heddle {

/// One byte; never allocated, never logged. Three groups: accepted, busy, refused.
enum class [[nodiscard]] status : std::uint8_t{
    // accepted
    done,    ///< finished before the call returned: no completion will be delivered
    posted,  ///< accepted: its completion will be delivered exactly once
    // busy: nothing was changed; let the lane progress (poll, or wait for something), then ask
    // again
    busy_queue,    ///< the lane's command queue is full: many threads share this lane
    busy_records,  ///< as many operations are in flight on this lane as it has records for
    busy_lane,     ///< another thread is driving the lane at this instant (probe, cancel)
    // refused: asking again gives the same answer. As an outcome: why the operation failed
    not_found,      ///< probe, cancel: nothing matches
    canceled,       ///< a receive or flush taken back by cancel
    truncated,      ///< the message was longer than the buffer; the buffer holds its beginning
    out_of_bounds,  ///< the range is not inside the region
    misaligned,     ///< an atomic's address is not a multiple of its size
    denied,         ///< the region was exposed without the right this operation needs
    withdrawn,      ///< the region's owner has withdrawn it
    peer_lost,      ///< the peer died, hung up, answered nothing for HEDDLE_PEER_TIMEOUT_MS, or
                    ///< cannot be reached at all: lane::why() says which
    invalid,        ///< an argument can never be right: rank out of range, reserved tag ...
    unsupported,    ///< no backend on the way to this peer can do this
    no_memory,      ///< the peer, or this process, had no memory for the message
    closed,         ///< the lane or the world is closed, or is the parent's of this forked process
    timed_out,      ///< the limit of a form that waits passed first, and nothing has changed
};

[[nodiscard]] constexpr bool accepted(status s) noexcept {
  return s <= status::posted;
}
[[nodiscard]] constexpr bool is_busy(status s) noexcept {
  return s >= status::busy_queue && s <= status::busy_lane;
}
[[nodiscard]] constexpr bool refused(status s) noexcept {
  return s >= status::not_found;
}

/// The status's name as written above, for messages. Never fails.
[[nodiscard]] std::string_view name_of(status s) noexcept;

/// Thrown by set-up only (world, lane, expose, symmetric, import), never by an operation.
/// what() is a chain of reasons, outermost first, that names the cause and the cure.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace heddle
