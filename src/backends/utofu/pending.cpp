// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/pending.h"

#include <utility>

namespace heddle::transport::utofu {

void pending_queue::grow() {
  const std::uint64_t mask = 2 * mask_ + 1;
  auto larger = std::make_unique<pending[]>(mask + 1);
  for (std::uint64_t i = head_; i != tail_; ++i) larger[i & mask] = cells_[i & mask_];
  cells_ = std::move(larger);
  mask_ = mask;
}

pending pending_queue::take_at(std::uint64_t position) noexcept {
  if (position < head_ || position >= tail_) return {};
  if (position == head_) return take_oldest();
  const pending found = std::exchange(cells_[position & mask_], {});
  if (found) ++taken_early_;
  return found;
}

void pending_queue::drop_taken() noexcept {
  for (; head_ != tail_ && !cells_[head_ & mask_]; ++head_) --taken_early_;
}

remote_vcq& vcq_table::add(utofu_vcq_id_t id, utofu_vcq_id_t with_path) {
  if (remote_vcq* const known = cell_of(id); known != nullptr) return *known;
  auto made = std::make_unique<remote_vcq>();
  made->id = id;
  made->with_path = with_path;
  made->index = all_.size() + 1;
  all_.reserve(all_.size() + 1);
  if (2 * (all_.size() + 1) > cells_.size()) {
    std::vector<remote_vcq*> larger(2 * cells_.size());
    cells_.swap(larger);
    for (const auto& each : all_) cell_of(each->id) = each.get();
  }
  cell_of(id) = made.get();
  return *all_.emplace_back(std::move(made));
}

}  // namespace heddle::transport::utofu
