// SPDX-License-Identifier: BSD-3-Clause
// encounter.h - one visit of one rank to another: warm up, time, look at single messages, check.
//
// The initiator has the clock and says what comes next; the other side does as it is told.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linktest/measure/kernels.h"
#include "linktest/measure/pacing.h"
#include "linktest/options.h"

namespace heddle::linktest {

/// Memory for the messages; exposed to peers where the wire gains from it.
struct message_memory {
  std::span<std::byte> send;     ///< at least the largest size
  std::span<std::byte> receive;  ///< at least receive_bytes()
  carrier by{};                  ///< of the timed messages
};
/// How much memory the receive side of the options' kernel needs: one message, and for uni several
/// slots; for each of the buffers, which begin at pages of their own.
[[nodiscard]] std::size_t receive_bytes(const options& how) noexcept;
[[nodiscard]] std::size_t send_bytes(const options& how) noexcept;
/// The part of `memory` for a visit or the like with this number, the same on both sides.
[[nodiscard]] kernel_buffers buffers_of(const message_memory& memory, const options& how,
                                        std::uint64_t number, std::uint64_t bytes) noexcept;

/// What is asked of a visit.
struct visit {
  kernel_call with;     ///< whom, which side, and a number that no other visit of the pair has
  std::uint64_t bytes;  ///< of a message
  pace how_often;
  bool single_messages;  ///< also with a clock for each message
  double clock_look_s;   ///< what a look at that clock costs: it is taken off
  bool known = false;    ///< to the initiator, from an earlier sitting: nothing is measured
};

/// One side of a visit. One thread.
class encounter {
 public:
  encounter(messenger& wire, const options& how, const message_memory& memory, const visit& what);

  /// Both sides run together. done, or the first failure, after which nothing may be expected from
  /// the peer. `earlier` are the pair's times from before, which count for how often.
  status run(std::span<const float> earlier);

  /// Of the initiator: seconds per message of each measurement, after those from before.
  [[nodiscard]] const std::vector<float>& times() const noexcept { return times_; }
  /// Of the initiator, where wanted and the kernel can: seconds of single messages.
  [[nodiscard]] const std::vector<float>& singles() const noexcept { return singles_; }
  /// Either side received what was not sent.
  [[nodiscard]] bool corrupted() const noexcept { return corrupted_; }

 private:
  enum class command : std::uint8_t { warm_up, prepare, time, singles, end };

  status lead();
  status follow();
  status greet();
  status tell(command next);
  status warm_up();
  status time_until_enough();
  status time_singles();
  status timed(command what, std::uint64_t messages, double& elapsed_s);
  status kernel_of(std::uint64_t messages);
  status compare_verdicts();

  [[nodiscard]] std::size_t slots_written() const noexcept;
  void spoil_receive_memory() noexcept;
  [[nodiscard]] bool received_right() const noexcept;

  const ways by_;
  const options& how_;
  const visit what_;
  std::span<std::byte> send_;
  const kernel_buffers buffers_;
  std::vector<float> times_, singles_;
  bool corrupted_ = false;
  bool known_;  // to the initiator, as the greeting says
};

}  // namespace heddle::linktest
