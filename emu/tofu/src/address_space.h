// address_space.h - what the kernel has mapped around a piece of this process's memory.
#pragma once
#include <cstdint>
#include <optional>

#include "os.h"

namespace tofu {

/// A piece of memory that was looked up. All addresses are byte addresses, ends are exclusive.
struct mapped_range {
  std::uint64_t begin = 0, end = 0;  ///< around the piece: mapped without a gap, of one kind
  bool in_file = false;              ///< a MAP_SHARED mapping of one file; else private memory
  file_identity file;
  std::uint64_t file_offset = 0;  ///< of `begin`
};

/// What surrounds [begin, end). No value: part of it is not mapped, not readable or, if `writable`
/// is asked, not writable. Reads /proc/self/maps.
[[nodiscard]] std::optional<mapped_range> look_up_memory(std::uint64_t begin, std::uint64_t end,
                                                         bool writable);

/// A descriptor of our own of a file that this process has open or can open at the place it was
/// mapped from. Empty: there is none, as with memory whose descriptor the program has closed.
[[nodiscard]] owned_fd find_file(const file_identity& file, bool writable);

}  // namespace tofu
