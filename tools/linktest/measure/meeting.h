// SPDX-License-Identifier: BSD-3-Clause
// meeting.h - all ranks wait for each other and agree on a few yes-or-no questions, whoever died.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "linktest/measure/messenger.h"

namespace heddle::linktest {

/// What the ranks tell each other when they meet. An answer is yes when any rank says yes.
enum note : std::uint32_t {
  nothing_special = 0,
  stop_requested = 1,     ///< the user wants an end
  cannot_start = 2,       ///< an option cannot be honoured on some rank
  crowded_host = 4,       ///< ranks share cores on some host
  all_written = 8,        ///< the files are whole: nothing is left to go on with
  cannot_go_on = 16,      ///< another section would lack rank 0, or memory that nobody writes to
  lost_somebody = 32,     ///< a rank that could not join again for another layer
  measured_already = 64,  ///< an earlier sitting has all of this section
  no_wrong_option = 128,  ///< what keeps a rank from starting is no option
};

/// The ranks of a run and the peers this rank has lost contact with. One thread at a time.
class meeting {
 public:
  explicit meeting(messenger& wire)
      : wire_(wire), lost_(static_cast<std::size_t>(wire.size()), false) {}

  /// A dissemination barrier: returns after every rank that can still be reached has called it as
  /// often as this one. Returns the notes of all. Lost peers are left out from then on.
  std::uint32_t meet(std::uint32_t notes);

  /// Collective. Who collects the results: the lowest rank that nobody has lost, or 0 when
  /// everybody has been lost by somebody. All that can reach each other agree, whoever died before
  /// the call.
  [[nodiscard]] rank choose_recorder();

  /// Collective. A byte from every rank to every other one that can still be reached.
  void talk_to_all();

  [[nodiscard]] bool lost(rank peer) const noexcept {
    return lost_[static_cast<std::size_t>(peer)];
  }
  void lose(rank peer) { lost_[static_cast<std::size_t>(peer)] = true; }
  [[nodiscard]] messenger& wire() noexcept { return wire_; }

 private:
  void tell_losses(std::uint64_t pass, std::vector<bool>& known);

  messenger& wire_;
  std::vector<bool> lost_;
  std::uint64_t held_ = 0;
};

}  // namespace heddle::linktest
