#include "backends/utofu/stream.h"

#include <utility>

namespace heddle::transport::utofu {

flight_queue::entry flight_queue::take_oldest() noexcept {
  if (empty()) return {};
  const entry found = cells_[head_ & mask_];
  cells_[head_ & mask_].clear();
  drop_taken();
  return found;
}

void flight_queue::forget(const flight& f) noexcept {
  for (std::uint64_t i = head_; i != tail_; ++i) {
    entry& cell = cells_[i & mask_];
    if (cell.tracked() == &f) cell.clear();
  }
  drop_taken();
}

void flight_queue::grow() {
  const std::uint64_t mask = 2 * mask_ + 1;
  auto larger = std::make_unique<entry[]>(mask + 1);
  for (std::uint64_t i = head_; i != tail_; ++i) larger[i & mask] = cells_[i & mask_];
  cells_ = std::move(larger);
  mask_ = mask;
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

}  // namespace heddle::transport::utofu
