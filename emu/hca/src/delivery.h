// SPDX-License-Identifier: BSD-3-Clause
// delivery.h - what the responder's side of a queue pair does. Here the initiator does it, holding
// the target's lock, for the length of one message.
#pragma once
#include <cstdint>
#include <optional>

#include "completion.h"
#include "peers.h"
#include "scatter.h"
#include "shared_qp.h"
#include "shared_receives.h"

namespace hca {

class delivery {
 public:
  delivery(process& us, const peer& whose, shared_qp& to) noexcept;

  [[nodiscard]] const shared_qp& to() const noexcept { return to_; }
  [[nodiscard]] ibv_qp_state state() const noexcept;
  [[nodiscard]] far_memory memory() const noexcept { return {whose_.pid, whose_.is_self}; }

  /// False: none is posted.
  [[nodiscard]] bool take(receive& into) noexcept;
  /// Where the receive's first pieces up to `bytes` are. SUCCESS, LOC_LEN_ERR or LOC_PROT_ERR.
  [[nodiscard]] ibv_wc_status place(const receive& into, std::uint64_t bytes,
                                    pieces& found) const noexcept;
  /// Where the peer's memory is that an rkey is for; 0: the key is not good for that.
  [[nodiscard]] std::uint64_t translate(std::uint32_t rkey, std::uint32_t access,
                                        std::uint64_t address, std::uint64_t bytes) const noexcept;
  /// Adds a completion to the queue pair's receive CQ. False: the CQ is full, the queue pair
  /// failed.
  bool complete(const completion& what) noexcept;
  /// The queue pair is in error: what was posted to it is flushed, and its owner hears of `event`.
  void fail(std::optional<ibv_event_type> event) noexcept;

  /// Takes out what is posted, with flush errors.
  void flush() noexcept;

 private:
  void tell(ibv_event_type event) noexcept;

  process& us_;
  const peer& whose_;
  shared_qp& to_;
  const host::shared_lock_guard held_;
};

}  // namespace hca
