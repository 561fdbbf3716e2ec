// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/packed.h"

#include <algorithm>
#include <cstring>

namespace heddle::protocols {
namespace {

template <class Blocks>
std::size_t total(const Blocks& blocks) noexcept {
  std::size_t sum = 0;
  for (const auto& b : blocks) sum += b.size();
  return sum;
}

}  // namespace

gathered::gathered(std::span<const std::byte> header, blocks from, const completion& ended)
    : header_bytes_(header.size()),
      size_(total(from)),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(header_bytes_ + size_)),
      ended_(ended) {
  std::byte* at = std::copy(header.begin(), header.end(), bytes_.get());
  for (const auto& b : from) at = std::copy(b.begin(), b.end(), at);
}

void gathered::deliver(void* owner, std::uint64_t, const outcome& what) noexcept {
  const std::unique_ptr<gathered> self(static_cast<gathered*>(owner));
  self->ended_(what);
}

scattered::scattered(blocks into, const completion& ended)
    : into_(into.begin(), into.end()),
      size_(total(into)),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(size_)),
      ended_(ended) {}

void scattered::scatter(std::size_t came) const noexcept {
  const std::byte* from = bytes_.get();
  for (const auto& b : into_) {
    const std::size_t here = std::min(came, b.size());
    std::copy_n(from, here, b.begin());
    from += here;
    came -= here;
  }
}

void scattered::deliver(void* owner, std::uint64_t, const outcome& what) noexcept {
  const std::unique_ptr<scattered> self(static_cast<scattered*>(owner));
  self->scatter(std::min(what.bytes, self->size_));
  self->ended_(what);
}

const completion& scattered::of_program(const completion& c) noexcept {
  return c.deliver == &scattered::deliver ? static_cast<const scattered*>(c.owner)->ended_ : c;
}

}  // namespace heddle::protocols
