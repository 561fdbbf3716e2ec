// SPDX-License-Identifier: BSD-3-Clause
// announcements.h - the rings that peers have announced on the board of a lane: which were read,
// and which have to be tried again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/shm/segment.h"
#include "base/clock.h"

namespace heddle::transport::shm {

/// The lane's thread only. `accept(announcement)` says whether one is settled. False: not now, it
/// is to be tried again.
class announcements {
 public:
  struct announcement {
    announced_ring ring;
    std::uint64_t since_ns;  ///< when it was read
  };

  explicit announcements(const sync::board<most_senders>& board) noexcept : board_(board) {}

  /// One has not been read yet.
  [[nodiscard]] bool have_news() const noexcept { return board_.at(read_) != 0; }
  /// One was read and is to be tried again.
  [[nodiscard]] bool some_wait() const noexcept { return !later_.empty(); }

  /// Reads what is new. In some calls tries again what waits.
  template <class Accept>
  void read(const Accept& accept) noexcept {
    if (some_wait() && ++calls_ % calls_between_tries == 0) try_again(accept);
    std::uint64_t entry = 0;
    while ((entry = board_.at(read_)) != 0) {
      ++read_;
      const announcement now{unpacked(entry), now_ns()};
      if (!accept(now)) later_.push_back(now);
    }
  }
  template <class Accept>
  void try_again(const Accept& accept) noexcept {
    std::erase_if(later_, accept);
  }

 private:
  static constexpr unsigned calls_between_tries = 64;

  const sync::board<most_senders>& board_;
  std::size_t read_ = 0;  // entries so far
  std::vector<announcement> later_;
  unsigned calls_ = 0;  // of read() while some waited
};

}  // namespace heddle::transport::shm
