// SPDX-License-Identifier: BSD-3-Clause
// blobs.h - what an exchange has gathered, as a list to compare with.
#pragma once
#include <cstddef>
#include <vector>

#include "bootstrap/gathered.h"

namespace heddle::test {

[[nodiscard]] inline std::vector<bootstrap::blob> blobs_of(const bootstrap::gathered& all) {
  std::vector<bootstrap::blob> list;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    list.emplace_back(all[rank].begin(), all[rank].end());
  return list;
}

}  // namespace heddle::test
