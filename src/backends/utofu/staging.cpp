#include "backends/utofu/staging.h"

#include <utility>

namespace heddle::transport::utofu {
namespace {

constexpr std::size_t grain = 64;  // keeps pieces aligned for any atomic
/// Little that is under way goes round in this much at the front, which a core's cache keeps.
constexpr std::size_t warm_bytes = 16 * 1024;

}  // namespace

std::optional<staging::piece> staging::take(std::size_t bytes) {
  const std::uint64_t size = memory_.size();
  const std::uint64_t needed = (bytes + grain - 1) / grain * grain;
  std::uint64_t begin = head_;
  const std::uint64_t place = begin & (size - 1);
  const bool over_the_end = place + needed > size;
  const bool cold =
      place >= warm_bytes && head_ - tail_ + needed <= place;  // and the front is free
  if (over_the_end || cold) begin += size - place;
  if (begin + needed - tail_ > size) return {};
  if (next_ - first_ > mask_) [[unlikely]]
    grow();
  of(next_) = {head_, begin + needed, false};
  head_ = begin + needed;
  const std::uint64_t at = begin & (size - 1);
  return piece{memory_.data() + at, address_ + at, next_++};
}

void staging::grow() {
  const std::uint32_t mask = 2 * mask_ + 1;
  auto larger = std::make_unique<entry[]>(mask + 1);
  for (std::uint32_t t = first_; t != next_; ++t) larger[t & mask] = of(t);
  entries_ = std::move(larger);
  mask_ = mask;
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

}  // namespace heddle::transport::utofu
