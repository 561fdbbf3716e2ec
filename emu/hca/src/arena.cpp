// SPDX-License-Identifier: BSD-3-Clause
// arena.cpp - see arena.h.
#include "arena.h"

#include <bit>
#include <cstring>
#include <utility>

#include "capacity.h"
#include "keys.h"

namespace hca {

namespace {

constexpr unsigned smallest = 6;  ///< a cache line

unsigned class_of(std::size_t bytes) noexcept {
  const auto wanted = static_cast<unsigned>(std::bit_width(bytes - 1));
  return wanted < smallest ? smallest : wanted;
}

}  // namespace

arena arena::make() {
  host::owned_fd fd = host::make_sealed_memory("softhca", arena_bytes);
  if (!fd) return {};
  host::mapping map(fd.get(), arena_bytes);
  return {std::move(fd), std::move(map)};
}

arena::arena(host::owned_fd fd, host::mapping map) noexcept
    : fd_(std::move(fd)), map_(std::move(map)), end_(sizeof(key_table)) {}

std::uint64_t arena::find(unsigned size_class) noexcept {
  auto& known = free_[size_class];
  if (!known.empty()) {
    const std::uint64_t at = known.back();
    known.pop_back();
    return at;
  }
  const std::uint64_t at = end_;
  if (at + (std::uint64_t{1} << size_class) > arena_bytes) return 0;
  end_ += std::uint64_t{1} << size_class;
  return at;
}

std::uint64_t arena::take(std::size_t bytes) {
  const std::lock_guard held(mutex_);
  const std::uint64_t fresh = end_;
  const std::uint64_t found = find(class_of(bytes));
  if (found != 0 && found != fresh) std::memset(data() + found, 0, bytes);
  return found;
}

void arena::give_back(std::uint64_t at, std::size_t bytes) noexcept {
  const std::lock_guard held(mutex_);
  free_[class_of(bytes)].push_back(at);
}

}  // namespace hca
