// SPDX-License-Identifier: BSD-3-Clause
// station.h - what a rank brings to a benchmark: its lanes, its partner, and its handlers.
#pragma once
#include <fmt/core.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "exit_status.h"
#include "harness/spec.h"
#include "libraries/window.h"

namespace heddle::bench {

inline constexpr int max_threads = 256;

/// Handlers 0 to 255 answer a ping, 256 to 511 count: calls, answers and notifications; the rest of
/// the number is the thread.
inline constexpr handler_id ping_handlers = 0;
inline constexpr handler_id count_handlers = 256;

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

inline void count_arrival(mailbox& box) {
  const completion arrived = box.arrived;
  arrived({});
}

/// Sends as much back. One ping per thread is in flight, so the lane has room.
inline void answer_ping(void* context, lane& here, const call_message& message) noexcept {
  mailbox& box = *static_cast<mailbox*>(context);
  const auto pong = static_cast<handler_id>(count_handlers + box.thread);
  box.answer.resize(std::max(message.header.size(), message.payload.size()));
  const std::span<const std::byte> answer(box.answer);
  const status s = here.try_call(message.source, pong, answer.first(message.header.size()),
                                 answer.first(message.payload.size()));
  if (!accepted(s)) {  // the partner would wait for ever
    fmt::print(stderr, "heddle bench: answering a ping: {}\n", name_of(s));
    std::_Exit(1);
  }
  count_arrival(box);
}

inline void count_message(void* context, lane&, const call_message&) noexcept {
  count_arrival(*static_cast<mailbox*>(context));
}

/// A rank's place in a job whose ranks work in pairs (0,1), (2,3) ...: the even one initiates.
class station {
 public:
  /// Collective. Throws heddle::error, or std::runtime_error when the job does not fit `o`.
  station(world& job, const options& o)
      : job_(job),
        mailboxes_(std::make_unique<mailbox[]>(static_cast<std::size_t>(most_threads(o)))) {
    if (job.size() != o.ranks) {
      throw tools::usage_error(
          fmt::format("this job has {} ranks, not the {} of --ranks", job.size(), o.ranks));
    }
    if (o.backend != "auto" && job.route(partner()) != o.backend) {
      throw tools::usage_error(
          fmt::format("--backend {} cannot be honoured: rank {} reaches rank {} over {}", o.backend,
                      self_, partner(), job.route(partner())));
    }
    const int threads = most_threads(o);
    for (int t = 0; t < threads; ++t) {
      mailbox& box = mailbox_of(t);
      box.thread = t;
      job.set_handler(static_cast<handler_id>(ping_handlers + t), answer_ping, &box);
      job.set_handler(static_cast<handler_id>(count_handlers + t), count_message, &box);
    }
    const int lanes = o.base.lanes == 0 ? threads : std::min(o.base.lanes, threads);
    locks_ = std::make_unique<std::mutex[]>(static_cast<std::size_t>(lanes));
    for (int n = 0; n < lanes; ++n) lanes_.emplace_back(job, lane_options{.number = n});
    job.barrier();
  }

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
  [[nodiscard]] lane_use turns_of(const spec& s, int thread) noexcept {
    std::mutex& lock = locks_[static_cast<std::size_t>(lane_index(s, thread))];
    return lane_use(lane_of(s, thread), s.lock_lanes ? &lock : nullptr);
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
