// SPDX-License-Identifier: BSD-3-Clause
// dispatch.h - what the program asks of a lane, and which protocol it belongs to.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "protocols/rma.h"
#include "protocols/tagged.h"

namespace heddle::protocols {

/// Holder only. What has ended goes into the delivery batch given.
class dispatch {
 public:
  using command_table = std::array<protocol*, command_kinds>;
  /// `kinds`: who starts commands of a kind. The other two have short ways of their own.
  dispatch(path& way, operations& ops, const command_table& kinds, tagged& receives, rma& accesses)
      : path_(way), ops_(ops), kinds_(kinds), tagged_(receives), rma_(accesses) {}

  /// Starts an operation: done, posted, or why not (never busy_queue: that is the lane's).
  status execute(const command& c, delivery_batch& out) {
    ops_.collect_in(out);
    return kinds_[index_of(c.kind)]->begin(c);
  }
  /// See rma::access_now.
  template <command_kind Kind>
  status access_now(const memory::remote_memory& there, std::uint64_t offset,
                    std::span<std::byte> memory, const completion& done, delivery_batch& out) {
    ops_.collect_in(out);
    return rma_.access_now<Kind>(there, offset, memory, done);
  }
  /// Never `done`: source, tag and length travel in the completion's outcome.
  status receive(rank source, tag_match match, std::span<std::byte> into, const completion& done,
                 delivery_batch& out) {
    ops_.collect_in(out);
    return tagged_.receive(source, match, into, done);
  }
  /// Takes a receive or a flush back. not_found: there is none with this completion.
  status cancel(const completion& which, delivery_batch& out);

  /// Between these, what execute_accepted() has for the wire is kept back and posted together.
  void begin_batch() noexcept { path_.batch().begin(); }
  void end_batch(delivery_batch& out);
  /// The same as execute() for a command already accepted: takes it even when there are enough
  /// requests, and delivers its completion in every case.
  void execute_accepted(const command& c, delivery_batch& out);

 private:
  path& path_;
  operations& ops_;
  const command_table& kinds_;
  tagged& tagged_;
  rma& rma_;
};

}  // namespace heddle::protocols
