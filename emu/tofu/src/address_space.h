// SPDX-License-Identifier: BSD-3-Clause
// address_space.h - what the kernel has mapped around a piece of this process's memory.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "host/os.h"

namespace tofu {

struct address_range {
  std::uint64_t begin = 0, end = 0;
};

/// A piece of memory that was looked up. All addresses are byte addresses, ends are exclusive.
struct mapped_range {
  std::uint64_t begin = 0, end = 0;  ///< around the piece: mapped without a gap, of one kind
  bool in_file = false;              ///< a MAP_SHARED mapping of one file; else private memory
  host::file_identity file;
  std::uint64_t file_offset = 0;  ///< of `begin`
};

/// What surrounds `piece`, at least as far as `around` goes where that is mapped alike. No value:
/// part of the piece is not mapped, not readable or, if `writable` is asked, not writable.
/// The time it takes grows with the number of mappings only before Linux 6.11.
[[nodiscard]] std::optional<mapped_range> look_up_memory(address_range piece, address_range around,
                                                         bool writable);

/// Descriptors under which other processes can open the files that this one has mapped: the
/// program's own, which it may close at any time. Finding one does not, as a rule, look at all
/// that are open. One thread at a time.
class file_finder {
 public:
  /// -1: there is none, as with memory whose descriptor the program has closed.
  [[nodiscard]] int find(const host::file_identity& file, bool writable);
  /// Nobody needs `file` now: the program may close it, and open the next under its number.
  void release(const host::file_identity& file, bool writable);

 private:
  using wanted = std::pair<host::file_identity, bool>;
  [[nodiscard]] int find_released(const wanted& file);
  [[nodiscard]] static int find_anywhere(const wanted& file);
  [[nodiscard]] static bool is_open_as(int fd, const wanted& file) noexcept;

  std::map<wanted, int> known_;
  std::map<int, wanted> released_;
};

}  // namespace tofu
