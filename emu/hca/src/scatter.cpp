// SPDX-License-Identifier: BSD-3-Clause
// scatter.cpp - see scatter.h.
#include "scatter.h"

#include <algorithm>
#include <cerrno>

#include "host/copy.h"

namespace hca {

namespace {

std::byte* start_of(const iovec& piece) noexcept {
  return static_cast<std::byte*>(piece.iov_base);
}

void copy_here(const pieces& to, const pieces& from) noexcept {
  std::size_t i = 0, j = 0, at_i = 0, at_j = 0;
  while (i < to.size() && j < from.size()) {
    const iovec& a = to.data()[i];
    const iovec& b = from.data()[j];
    const std::size_t bytes = std::min(a.iov_len - at_i, b.iov_len - at_j);
    host::copy_any_order(start_of(a) + at_i, start_of(b) + at_j, bytes);
    at_i += bytes;
    at_j += bytes;
    if (at_i == a.iov_len) ++i, at_i = 0;
    if (at_j == b.iov_len) ++j, at_j = 0;
  }
}

using mover = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                          unsigned long);

int move(mover how, pid_t pid, pieces far, pieces here) noexcept {
  std::uint64_t left = std::min(far.bytes(), here.bytes());
  if (here.bytes() > left) here = here.first(left);
  if (far.bytes() > left) far = far.first(left);
  while (left > 0) {
    const ssize_t moved = how(pid, here.data(), here.size(), far.data(), far.size(), 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EFAULT;
    left -= static_cast<std::uint64_t>(moved);
    if (left == 0) break;
    here = here.after(static_cast<std::uint64_t>(moved));
    far = far.after(static_cast<std::uint64_t>(moved));
  }
  return 0;
}

}  // namespace

void pieces::add(std::uint64_t address, std::uint64_t bytes) noexcept {
  if (bytes == 0 || size_ == all_.size()) return;
  all_[size_++] = {reinterpret_cast<void*>(address), bytes};  // NOLINT: perhaps another's address
  bytes_ += bytes;
}

pieces pieces::first(std::uint64_t bytes) const noexcept {
  pieces result;
  for (std::size_t i = 0; i < size_ && bytes > 0; ++i) {
    const std::uint64_t part = std::min<std::uint64_t>(all_[i].iov_len, bytes);
    result.add(reinterpret_cast<std::uint64_t>(all_[i].iov_base), part);
    bytes -= part;
  }
  return result;
}

pieces pieces::after(std::uint64_t bytes) const noexcept {
  pieces result;
  for (std::size_t i = 0; i < size_; ++i) {
    const std::uint64_t skip = std::min<std::uint64_t>(all_[i].iov_len, bytes);
    result.add(reinterpret_cast<std::uint64_t>(all_[i].iov_base) + skip, all_[i].iov_len - skip);
    bytes -= skip;
  }
  return result;
}

int write_far(const far_memory& whose, const pieces& far, const pieces& here) noexcept {
  if (!whose.is_self) return move(process_vm_writev, whose.pid, far, here);
  copy_here(far, here);
  return 0;
}

int read_far(const far_memory& whose, const pieces& far, const pieces& here) noexcept {
  if (!whose.is_self) return move(process_vm_readv, whose.pid, far, here);
  copy_here(here, far);
  return 0;
}

}  // namespace hca
