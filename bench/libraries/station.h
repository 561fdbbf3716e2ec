// SPDX-License-Identifier: BSD-3-Clause
// station.h - what a rank brings to a benchmark: its lanes, its partner, and its handlers.
#pragma once
#include <heddle/heddle.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "harness/spec.h"
#include "libraries/window.h"

namespace heddle::bench {

inline constexpr int max_threads = 256;

/// Handlers 0 to 255 answer a ping, 256 to 511 take an answer or a notification, 512 to 767 count;
/// the rest of the number is the thread.
inline constexpr handler_id ping_handlers = 0;
inline constexpr handler_id pong_handlers = 256;
inline constexpr handler_id count_handlers = 512;

/// Tags: a purpose, and the thread or 0.
enum class purpose : std::uint64_t { count = 1, finished, answer, data, beside };
[[nodiscard]] constexpr tag tag_of(purpose p, int thread) noexcept {
  return static_cast<std::uint64_t>(p) << 32 | static_cast<std::uint64_t>(thread);
}

/// Counts what a thread's handlers were given.
struct alignas(HEDDLE_CACHE_LINE) mailbox {
  counter arrived;
  int thread = 0;
  std::vector<std::byte> answer = {};  ///< to a ping: a message's own memory ends with its handler
};

/// A rank's place in a job whose ranks work in pairs (0,1), (2,3) ...: the even one initiates.
class station {
 public:
  /// Collective. Throws heddle::error, or std::runtime_error when the job does not fit `o`.
  station(world& job, const options& o);

  [[nodiscard]] world& job() noexcept { return job_; }
  [[nodiscard]] rank self() const noexcept { return self_; }
  [[nodiscard]] rank peer() const noexcept { return self_ ^ 1; }
  /// As peer; where there is none, because the number of ranks is odd, rank 0.
  [[nodiscard]] rank partner() const noexcept { return peer() < job_.size() ? peer() : 0; }
  [[nodiscard]] bool initiates() const noexcept { return self_ % 2 == 0; }
  [[nodiscard]] lane& lane_of(const spec& s, int thread) noexcept {
    return lanes_[static_cast<std::size_t>(lane_index(s, thread))];
  }
  /// The same, by turns of its lock where `s` wants one.
  [[nodiscard]] locked_lane turns_of(const spec& s, int thread) noexcept {
    std::mutex& lock = locks_[static_cast<std::size_t>(lane_index(s, thread))];
    return {lane_of(s, thread), s.lock_lanes ? &lock : nullptr};
  }
  /// For what one thread of each rank says to others between the measurements.
  [[nodiscard]] lane& first_lane() noexcept { return lanes_.front(); }
  [[nodiscard]] mailbox& mailbox_of(int thread) noexcept {
    return mailboxes_[static_cast<std::size_t>(thread)];
  }

 private:
  world& job_;
  const rank self_ = job_.rank();
  std::unique_ptr<mailbox[]> mailboxes_;
  std::unique_ptr<std::mutex[]> locks_;  // by lane
  std::vector<lane> lanes_;              // as many as the largest thread count needs
};

}  // namespace heddle::bench
