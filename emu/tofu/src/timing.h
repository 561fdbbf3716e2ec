// SPDX-License-Identifier: BSD-3-Clause
// timing.h - a model of how long things take on the machine. None of it is a measurement of one:
// the numbers are taken from publications, and two cores are not a supercomputer. It serves to
// compare two ways of doing something under the same assumptions.
//
// SOFTTOFU_MODEL=cpu      a posting call takes as long as on the machine
// SOFTTOFU_MODEL=virtual  clocks that count what the machine would need, while the program runs as
//                         fast as it can: each thread has one; commands occupy their CQ, TNI, node
//                         and links; who polls a notice comes to its time. What a program learns by
//                         looking at memory does not move its clock.
#pragma once
#include <atomic>
#include <cstdint>

#include "machine.h"
#include "operation.h"

namespace tofu {

/// Until when something is occupied, in virtual nanoseconds.
using occupancy = std::atomic<std::uint64_t>;

/// This thread's clock.
[[nodiscard]] std::uint64_t virtual_now() noexcept;
void virtual_advance(std::uint64_t ns) noexcept;
void virtual_reach(std::uint64_t moment) noexcept;

/// When a command is out of the TOQ, at the target, and answered.
struct moments {
  std::uint64_t sent = 0, arrived = 0, answered = 0;
};

/// The way of one CQ's commands.
class virtual_network {
 public:
  virtual_network(const machine& m, const settings& set, unsigned tni) noexcept;
  /// `bytes` of a command to a VCQ of node `to`, TNI `to_tni`.
  moments carry(const operation& op, std::uint64_t bytes, unsigned to, unsigned to_tni) noexcept;

 private:
  struct way {
    std::uint64_t start;
    unsigned hops;
  };
  way travel(const operation& op, std::uint64_t frame, unsigned to) noexcept;
  unsigned follow(coordinates at, const coordinates& to, unsigned path, std::uint64_t frame,
                  std::uint64_t& start) noexcept;

  const machine& machine_;
  const unsigned tni_;
  const std::uint64_t latency_;
  std::uint64_t cq_until_ = 0;
};

/// The real clock.
[[nodiscard]] std::uint64_t real_ns() noexcept;

/// Makes the call it lives in take at least `ns`; 0: as long as it takes.
class paid_call {
 public:
  explicit paid_call(std::uint64_t ns) noexcept : until_(ns == 0 ? 0 : real_ns() + ns) {}
  paid_call(const paid_call&) = delete;
  paid_call& operator=(const paid_call&) = delete;
  ~paid_call() {
    while (until_ != 0 && real_ns() < until_) {
    }
  }

 private:
  std::uint64_t until_;
};

}  // namespace tofu
