// SPDX-License-Identifier: BSD-3-Clause
// resident.h - how much memory of this process has been touched.
#pragma once
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace heddle::test {

/// Bytes; counted in pages.
inline std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace heddle::test
