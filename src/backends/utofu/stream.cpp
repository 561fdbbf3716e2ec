#include "backends/utofu/stream.h"

namespace heddle::backends::utofu {

flight_queue::entry flight_queue::take_oldest() noexcept {
  if (empty()) return {};
  const entry found = std::exchange(cells_[head_ & (cells_.size() - 1)], {});
  drop_taken();
  return found;
}

void flight_queue::forget(const flight& f) noexcept {
  for (std::uint64_t i = head_; i != tail_; ++i) {
    entry& cell = cells_[i & (cells_.size() - 1)];
    if (cell.tracked == &f) cell = {};
  }
  drop_taken();
}

void flight_queue::grow() {
  std::vector<entry> larger(2 * cells_.size());
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
