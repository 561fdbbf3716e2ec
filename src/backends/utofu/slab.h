// SPDX-License-Identifier: BSD-3-Clause
// slab.h - memory of a lane that peers write to and that it sends from: registered once, cut into
// lines. Nothing is given back: a peer that was given a place may write there as long as it lives.
#pragma once
#include <cstddef>
#include <vector>

#include "backends/utofu/shared_memory.h"
#include "backends/utofu/vcq.h"
#include "memory/segment.h"

namespace heddle::transport::utofu {

class slab {
 public:
  explicit slab(const vcq& of) : vcq_(of) {}
  ~slab();
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;

  /// `bytes` rounded up to whole lines, zeroed. False: no memory, or no tag left.
  [[nodiscard]] bool allocate(std::size_t bytes, slab_place& place) noexcept;
  [[nodiscard]] std::byte* at(slab_place place) const noexcept;
  /// Its steering address on this lane's VCQ.
  [[nodiscard]] utofu_stadd_t address(slab_place place) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct piece {
    memory::segment memory;
    utofu_stadd_t address = 0;
    std::size_t used = 0;
  };
  [[nodiscard]] bool grow(std::size_t bytes);

  const vcq& vcq_;
  std::vector<piece> pieces_;  // by tag
};

}  // namespace heddle::transport::utofu
