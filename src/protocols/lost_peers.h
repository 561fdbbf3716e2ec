// SPDX-License-Identifier: BSD-3-Clause
// lost_peers.h - which ranks this process has lost, on which lane and why; the program and whoever
// reads the log are told of each once.
#pragma once
#include <heddle/completion.h>
#include <heddle/types.h>
#include <heddle/world.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle::protocols {

/// One per world. Any thread.
class lost_peers {
 public:
  /// `lane` has lost `peer`, for the first time. `missed`: something was under way to it, or waited
  /// for it, so people should know. Returns what tells the program, to be delivered with no lane
  /// held; it does nothing when there is nothing to tell.
  [[nodiscard]] completion note(int lane, rank peer, std::string why, bool missed);
  /// Why `lane` has lost `peer`, or else another lane has; empty: no lane has.
  [[nodiscard]] std::string why(int lane, rank peer) const;
  /// Sets what tells the program (null: nothing), and tells at once of those lost before.
  void set_handler(loss_handler function, void* context);

 private:
  static void deliver(void* owner, std::uint64_t, const outcome&) noexcept;
  void tell_untold();

  mutable std::mutex mutex_;                         // guards what follows
  std::map<std::pair<rank, int>, std::string> why_;  // by rank and lane
  std::set<std::pair<rank, bool>> logged_;           // and whether something was missed
  std::vector<rank> untold_;                         // to the program
  loss_handler function_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace heddle::protocols
