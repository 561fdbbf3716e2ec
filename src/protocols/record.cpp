#include "protocols/record.h"

namespace heddle::protocols {

record& record_pool::take() {
  if (free_.empty()) {
    auto& slab = slabs_.emplace_back(std::make_unique<record[]>(slab_records));
    const std::size_t first = (slabs_.size() - 1) * slab_records;
    free_.reserve(slabs_.size() * slab_records);
    for (std::size_t i = slab_records; i-- > 0;) {
      slab[i].index = static_cast<std::uint32_t>(first + i);
      free_.push_back(&slab[i]);
    }
  }
  record& r = *free_.back();
  free_.pop_back();
  ++in_use_;
  return r;
}

void record_pool::give_back(record& r) noexcept {
  r.at = stage::free;
  if (++r.generation == 0) r.generation = 1;
  r.with = nullptr;
  r.native = r.eager = r.counted = false;
  r.failure = status::done;
  r.source = any_source;
  r.lent = {};
  r.issued = r.moved = r.message_bytes = r.since_ns = 0;
  r.owned.reset();
  r.owned_header.reset();
  free_.push_back(&r);
  --in_use_;
}

record* record_pool::find(std::uint64_t id) noexcept {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= slabs_.size() * slab_records) return nullptr;
  record& r = slabs_[index / slab_records][index % slab_records];
  return r.at != stage::free && r.generation == id >> 32 ? &r : nullptr;
}

}  // namespace heddle::protocols
