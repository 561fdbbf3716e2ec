// SPDX-License-Identifier: BSD-3-Clause
// requester.h - carries out the oldest work request of a queue pair.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "qp.h"

namespace hca {

/// Holding the queue pair's lock.
class requester {
 public:
  explicit requester(qp& of) noexcept : qp_(of), us_(of.us_) {}

  [[nodiscard]] outcome execute() noexcept;
  /// Writes what writes have left lying.
  void write_late() noexcept;

 private:
  [[nodiscard]] outcome execute_rc() noexcept;
  [[nodiscard]] outcome execute_ud() noexcept;
  [[nodiscard]] bool gather() noexcept;

  struct target {
    std::shared_ptr<const peer> who;
    shared_qp* qp = nullptr;
  };
  [[nodiscard]] target find(std::uint32_t number) const noexcept;
  [[nodiscard]] bool is_connected(const shared_qp& to) const noexcept;
  [[nodiscard]] outcome carry_out(delivery& to) noexcept;
  [[nodiscard]] outcome send(delivery& to) noexcept;
  [[nodiscard]] outcome write(delivery& to) noexcept;
  [[nodiscard]] outcome read(delivery& to) noexcept;
  [[nodiscard]] outcome change(delivery& to) noexcept;
  [[nodiscard]] ibv_wc_status deliver(delivery& to, const receive& into) noexcept;
  [[nodiscard]] ibv_wc_status receive_error(delivery& to, const receive& into,
                                            ibv_wc_status theirs) noexcept;
  [[nodiscard]] completion arrived(const receive& into, ibv_wc_opcode as) const noexcept;
  [[nodiscard]] bool write_later(std::uint64_t address) noexcept;
  void send_datagram(std::uint32_t number, const place& to) noexcept;
  void send_to_group(const union ibv_gid& gid) noexcept;
  void make_grh(std::byte* into) const noexcept;

  qp& qp_;
  process& us_;
  pieces data_;
};

}  // namespace hca
