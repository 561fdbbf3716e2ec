#include "backends/utofu/stream.h"

#include <utility>

namespace heddle::backends::utofu {

std::uint32_t flight_queue::take(std::uint64_t edata) noexcept {
  const std::uint64_t at = head_ + (edata - head_) % edata_numbers;
  if (edata >= edata_numbers || at >= tail_) return none;
  const std::uint32_t found = std::exchange(cells_[at & (cells_.size() - 1)], none);
  drop_taken();
  return found;
}

std::uint32_t flight_queue::take_oldest() noexcept {
  if (empty()) return none;
  const std::uint32_t found = std::exchange(cells_[head_ & (cells_.size() - 1)], none);
  drop_taken();
  return found;
}

void flight_queue::forget(std::uint32_t flight) noexcept {
  for (std::uint64_t i = head_; i != tail_; ++i) {
    std::uint32_t& cell = cells_[i & (cells_.size() - 1)];
    if (cell == flight) cell = none;
  }
  drop_taken();
}

void flight_queue::grow() {
  std::vector<std::uint32_t> larger(2 * cells_.size(), none);
  for (std::uint64_t i = head_; i != tail_; ++i)
    larger[i & (larger.size() - 1)] = cells_[i & (cells_.size() - 1)];
  cells_.swap(larger);
}

void stream_map::insert(utofu_vcq_id_t id, stream* value) {
  if (2 * (used_ + 1) > cells_.size()) {
    std::vector<cell> old(2 * cells_.size());
    old.swap(cells_);
    for (const cell& c : old)
      if (c.value != nullptr) place(c);
  }
  place({id, value});
  ++used_;
}

void stream_map::place(const cell& c) noexcept {
  std::size_t i = home(c.id);
  while (cells_[i & (cells_.size() - 1)].value != nullptr) ++i;
  cells_[i & (cells_.size() - 1)] = c;
}

}  // namespace heddle::backends::utofu
