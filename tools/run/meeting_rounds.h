// SPDX-License-Identifier: BSD-3-Clause
// meeting_rounds.h - decides when a collective of the ranks is complete, or why it never will be.
//
// Knows ranks by number only; boot_server does the talking. A rank's n-th join is in round n: the
// programs that a rank runs one after the other meet the n-th ones of the other ranks.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap/launcher_protocol.h"

namespace heddle::tools {

/// One thread.
class meeting_rounds {
 public:
  using frame_kind = bootstrap::protocol::frame_kind;
  using blob = std::vector<std::byte>;

  /// What to send to a rank's connection of the given round: a whole encoded frame.
  struct reply {
    int rank;
    int round;
    std::shared_ptr<const blob> bytes;

    /// Else the rank waits on.
    [[nodiscard]] bool answers() const noexcept {
      return bootstrap::protocol::kind_of(*bytes) != frame_kind::starting;
    }
  };

  explicit meeting_rounds(int size);

  /// The round this join belongs to; nothing when the rank's earlier join has not left.
  [[nodiscard]] std::optional<int> join(int rank);
  /// The rank calls exchange (with its blob) or barrier. It must not be waiting for one already.
  void call(int rank, int round, frame_kind what, blob payload);
  /// The rank will call nothing more in this round.
  void leave(int rank, int round, const std::string& why);
  /// The rank will call nothing more in any round.
  void end(int rank, const std::string& why);

  /// Whom those that wait in this round wait for; empty when nobody waits.
  [[nodiscard]] std::vector<int> missing(int round) const;
  /// Those that wait in this round are answered that it failed, as `why` says.
  void give_up(int round, const std::string& why);

  /// Those that wait, in all rounds, are told that there are ranks to be started.
  void tell_of_starts();

  /// Takes what has become due since the last call.
  [[nodiscard]] std::vector<reply> take_replies() { return std::exchange(replies_, {}); }

 private:
  struct departure {
    int rank;
    std::string why;
  };
  struct meeting {
    frame_kind what{};                       ///< while someone waits
    std::vector<std::optional<blob>> given;  ///< by rank; those that wait
    int waiting = 0;
    std::vector<departure> departed;  ///< earliest first: the cause before its consequences
  };

  meeting& meeting_of(int round);
  void settle(int round, meeting& m);
  void complete(int round, meeting& m);
  void fail(int round, meeting& m, const std::string& why);
  void answer_waiting(int round, meeting& m, blob frame);

  int size_;
  std::vector<int> joins_;     ///< by rank: how many so far
  std::vector<bool> present_;  ///< by rank: joined and not left
  std::vector<departure> ended_;
  std::map<int, meeting> meetings_;  ///< by round; removed when all ranks have departed
  std::vector<reply> replies_;
};

}  // namespace heddle::tools
