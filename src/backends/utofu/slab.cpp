// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/slab.h"

#include <algorithm>
#include <exception>
#include <iterator>

#include "backends/utofu/names.h"

namespace heddle::transport::utofu {
namespace {

/// Pages that nobody touches cost nothing until they are registered; then the hardware pins them.
/// So the first piece is small, and each one twice as long as the one before: there are few tags.
constexpr std::size_t first_piece = 2 * 1024 * 1024;

std::size_t whole_lines(std::size_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

}  // namespace

slab::~slab() {
  for (const piece& p : pieces_) (void)utofu_dereg_mem(vcq_.handle(), p.address, 0);
}

bool slab::allocate(std::size_t bytes, slab_place& place) noexcept {
  bytes = whole_lines(bytes);
  auto in = std::ranges::find_if(
      pieces_, [&](const piece& p) { return p.memory.memory().size() - p.used >= bytes; });
  if (in == pieces_.end()) {
    try {
      if (!grow(bytes)) return false;
    } catch (const std::exception&) {
      return false;
    }
    in = std::prev(pieces_.end());
  }
  const auto tag = static_cast<slab_place>(tag_first_slab + (in - pieces_.begin()));
  place = tag << 24 | static_cast<slab_place>(in->used / line_bytes);
  in->used += bytes;
  return true;
}

bool slab::grow(std::size_t bytes) {
  const auto tag = static_cast<unsigned>(tag_first_slab + pieces_.size());
  if (tag > tag_last_slab) return false;
  pieces_.reserve(pieces_.size() + 1);
  const std::size_t wanted = std::min(first_piece << pieces_.size(), slab_reach);
  piece made{memory::segment("heddle-utofu-slab", std::max(bytes, wanted)), 0, 0};
  const auto memory = made.memory.memory();
  if (utofu_reg_mem_with_stag(vcq_.handle(), memory.data(), memory.size(), tag, 0, &made.address) !=
      UTOFU_SUCCESS)
    return false;
  pieces_.push_back(std::move(made));
  return true;
}

std::byte* slab::at(slab_place place) const noexcept {
  return pieces_[tag_of(place) - tag_first_slab].memory.memory().data() + offset_of(place);
}

utofu_stadd_t slab::address(slab_place place) const noexcept {
  return pieces_[tag_of(place) - tag_first_slab].address + offset_of(place);
}

std::size_t slab::bytes() const noexcept {
  std::size_t sum = 0;
  for (const piece& p : pieces_) sum += p.memory.memory().size();
  return sum;
}

}  // namespace heddle::transport::utofu
