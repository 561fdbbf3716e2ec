// SPDX-License-Identifier: BSD-3-Clause
// flush_queue.h - flushes that wait, each for the accesses that had begun before it and no others.
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::protocols {

struct request;

/// Oldest first. A lane numbers its flushes, and an access keeps as its mark the number of the last
/// flush before it. So who goes on posting keeps no flush waiting, and the end of an access is
/// counted at one flush only: the first that waits for it, before which those behind do not end.
/// Holder only.
class flush_queue {
 public:
  /// `number` is higher than any before. `under_way`: accesses that have begun and not ended.
  void add(request& flush, std::uint64_t number, std::uint64_t under_way);
  /// One of these has ended, which has this mark.
  void note_end(std::uint64_t mark) noexcept;
  /// The oldest, taken out, if it waits for nothing any more; else null.
  [[nodiscard]] request* take_ended() noexcept;
  /// Taken out before it has ended.
  void remove(const request& flush) noexcept;

 private:
  struct entry {
    request* flush;
    std::uint64_t number;
    std::uint64_t left;  ///< accesses that began after the entry before, and have not ended
  };
  std::vector<entry> waiting_;
  std::uint64_t awaited_ = 0;  // what is left of all entries
};

}  // namespace heddle::protocols
