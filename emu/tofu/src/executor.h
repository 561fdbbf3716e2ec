// SPDX-License-Identifier: BSD-3-Clause
// executor.h - carries out the commands of one CQ: moves the data and leaves the notices.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "arithmetic.h"
#include "machine.h"
#include "operation.h"
#include "steering.h"
#include "target.h"
#include "timing.h"

namespace tofu {

/// A piece of one block of a put or get.
struct piece {
  std::uint64_t block = 0;
  std::uint32_t offset = 0;  ///< in the block
  std::uint32_t length = 0;
};

/// Codes that the TCQ shows; the other errors of a command are the MRQ's.
constexpr bool is_tcq_error(int code) noexcept {
  return code <= -128 && code > -192;
}

/// Used by one thread at a time, which may be another than the one that posts.
class executor {
 public:
  /// `id`: of the CQ's VCQ with cmp_id 0.
  executor(const machine& m, const settings& set, std::uint64_t id, shared_cq& own,
           const steering_table& steering);

  /// All of `op`. Returns the code for its TCQ entry.
  int execute(const operation& op);
  /// When the last command was sent, on virtual clocks.
  [[nodiscard]] std::uint64_t sent_at() const noexcept { return when_.sent; }

  // --- the same in steps, for those who execute out of order
  // ---------------------------------------
  /// Whether the TCQ will show an error: what can be found before anything is sent.
  [[nodiscard]] int check_locally(const operation& op) const noexcept;
  /// All that a put takes from memory, during the visit; nullptr: it is not registered.
  [[nodiscard]] const std::byte* source(const operation& op, stag_visit& visit) const noexcept;
  /// Moves a piece, a put's from `data` if given. Returns any error code.
  int move(const operation& op, const piece& p, const std::byte* data = nullptr);
  /// What follows a block's data: padding, the target's notice, the initiator's own.
  void finish_block(const operation& op, std::uint64_t block, int code);
  /// An ARMW with its notices.
  int execute_armw(const operation& op);

 private:
  int move_between(const operation& op, const piece& p, std::byte* local, target& to);
  int copy(const operation& op, std::byte* local, const remote_place& remote, std::uint32_t length,
           const target& to) const noexcept;
  void pad(const operation& op, std::uint64_t end, target& to) const;
  void take_time(const operation& op, const target& to) noexcept;
  void notify_target(const operation& op, std::uint64_t end, target& to);
  void notify(const mrq_message& notice);
  [[nodiscard]] mrq_message notice_of(const operation& op, int code) const noexcept;

  const machine& machine_;
  const std::uint64_t id_;
  shared_cq& own_;
  const steering_table& steering_;
  target_cache targets_;
  mrq_producer own_mrq_;
  const bool hidden_;
  const bool get_errors_in_mrq_;
  const bool notices_per_block_;
  const bool chaotic_;
  const armw_rules armw_rules_;
  const std::unique_ptr<virtual_network> network_;  // only with virtual clocks
  moments when_;                                    // of the last block
};

/// Its MRQ has overflowed: from now on nothing arrives, and its owner gets FATAL.
void kill_cq(shared_cq& cq, std::uint64_t vcq_id) noexcept;

}  // namespace tofu
