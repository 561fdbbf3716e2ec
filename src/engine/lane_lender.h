// SPDX-License-Identifier: BSD-3-Clause
// lane_lender.h - whether a lane is lent to the thread that uses it (sync/lendable_queue.h).
#pragma once
#include <algorithm>
#include <utility>

namespace heddle::engine {

/// The executor's, which asks before every rest. Who has used a lane last gets it; once another has
/// asked for it, who has been seen to use it alone at some looks in a row, and at twice as many
/// after each further time.
class lane_lender {
 public:
  /// `user` has used it last since the last look; null: nobody has. `contested`: it was lent, and
  /// another has asked for it.
  [[nodiscard]] bool lends_to(const void* user, bool contested) noexcept {
    if (contested) patience_ = std::clamp(2 * patience_, first_patience, longest_patience);
    if (std::exchange(last_, user) != user || contested) looks_ = 0;
    if (user == nullptr || contested || ++looks_ <= patience_) return false;
    if (looks_ > forgets_after * patience_) patience_ = 0;
    return true;
  }

 private:
  static constexpr int first_patience = 4, longest_patience = 1024, forgets_after = 16;
  const void* last_ = nullptr;
  int looks_ = 0;     // that have found the same thread
  int patience_ = 0;  // looks
};

}  // namespace heddle::engine
