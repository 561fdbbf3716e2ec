// rank_map.h - finds a pointer by rank in a few instructions; grows, never shrinks.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::transport::shm {

/// Open addressing, at most half full. One thread at a time.
template <class T>
class rank_map {
 public:
  rank_map() : cells_(16) {}

  /// nullptr: not there. Any rank, also a negative one.
  [[nodiscard]] T* find(rank key) const noexcept {
    for (std::size_t i = home(key);; ++i) {
      const cell& c = cells_[i & (cells_.size() - 1)];
      if (c.value == nullptr || c.key == key) return c.value;
    }
  }
  /// `key` is not there yet.
  void insert(rank key, T* value) {
    if (2 * (used_ + 1) > cells_.size()) grow();
    place(key, value);
    ++used_;
  }

 private:
  struct cell {
    rank key = 0;
    T* value = nullptr;
  };
  [[nodiscard]] static std::size_t home(rank key) noexcept {
    return static_cast<std::uint32_t>(key);  // ranks of one host are mostly neighbours
  }
  void place(rank key, T* value) noexcept {
    std::size_t i = home(key);
    while (cells_[i & (cells_.size() - 1)].value != nullptr) ++i;
    cells_[i & (cells_.size() - 1)] = {key, value};
  }
  void grow() {
    std::vector<cell> old(2 * cells_.size());
    old.swap(cells_);
    for (const cell& c : old) {
      if (c.value != nullptr) place(c.key, c.value);
    }
  }

  std::vector<cell> cells_;
  std::size_t used_ = 0;
};

}  // namespace heddle::transport::shm
