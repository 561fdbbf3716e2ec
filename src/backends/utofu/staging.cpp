#include "backends/utofu/staging.h"

namespace heddle::backends::utofu {
namespace {

constexpr std::size_t grain = 64;  // keeps pieces aligned for any atomic

}  // namespace

std::optional<staging::piece> staging::take(std::size_t bytes) {
  const std::uint64_t size = memory_.size();
  const std::uint64_t needed = (bytes + grain - 1) / grain * grain;
  std::uint64_t begin = head_;
  if (begin % size + needed > size) begin += size - begin % size;  // not over the end
  if (begin + needed - tail_ > size) return {};
  if (next_ - first_ == entries_.size()) {
    std::vector<entry> larger(2 * entries_.size());
    for (std::uint32_t t = first_; t != next_; ++t) larger[t & (larger.size() - 1)] = of(t);
    entries_.swap(larger);
  }
  of(next_) = {head_, begin + needed, false};
  head_ = begin + needed;
  const std::uint64_t at = begin % size;
  return piece{memory_.data() + at, address_ + at, next_++};
}

void staging::untake() noexcept {
  --next_;
  head_ = of(next_).begin;
}

void staging::give_back(std::uint32_t ticket) noexcept {
  of(ticket).free = true;
  drop_free();
}

void staging::give_back_up_to(std::uint32_t ticket) noexcept {
  while (first_ != next_ && static_cast<std::int32_t>(ticket - first_) >= 0)
    tail_ = of(first_++).end;
}

void staging::drop_free() noexcept {
  while (first_ != next_ && of(first_).free) tail_ = of(first_++).end;
}

}  // namespace heddle::backends::utofu
