// SPDX-License-Identifier: BSD-3-Clause
// requests.h - the gets and atomics that one connection has asked its peer for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "backends/tcp/frame.h"
#include "transport/op.h"

namespace heddle::transport::tcp {

/// A request's id on the wire is its place in this table, so that whatever a peer answers can only
/// name what was asked of it on the same connection.
class request_table {
 public:
  struct request {
    op* of = nullptr;           ///< null: the place is free
    std::byte* into = nullptr;  ///< where the next byte goes
    std::uint64_t missing = 0;  ///< get: bytes that have not come yet
    std::uint32_t next_free = 0;
  };

  [[nodiscard]] bool has_room() const noexcept { return used_ < request_window; }
  [[nodiscard]] std::size_t size() const noexcept { return used_; }

  /// Only when has_room().
  std::uint32_t add(op& o) {
    if (free_ == places_.size()) places_.push_back({.next_free = free_ + 1});
    const std::uint32_t id = free_;
    request& r = places_[id];
    free_ = r.next_free;
    r.of = &o;
    r.into = o.memory.data();
    r.missing = o.memory.size();
    ++used_;
    return id;
  }
  /// Null: no request is called so. `id` may be anything.
  [[nodiscard]] request* find(std::uint32_t id) noexcept {
    return id < places_.size() && places_[id].of != nullptr ? &places_[id] : nullptr;
  }
  /// Of a request that find() found: forgets it.
  op& take(std::uint32_t id) noexcept {
    request& r = places_[id];
    r.next_free = free_;
    free_ = id;
    --used_;
    return *std::exchange(r.of, nullptr);
  }
  /// Calls `what` for the op of each request, and forgets them all.
  template <class F>
  void take_all(F what) noexcept {
    for (std::uint32_t id = 0; id < places_.size(); ++id) {
      if (places_[id].of != nullptr) what(take(id));
    }
  }

 private:
  std::vector<request> places_;  // grows to as many as there once were
  std::uint32_t free_ = 0;       // the first of the free places; places_.size(): all are taken
  std::size_t used_ = 0;
};

}  // namespace heddle::transport::tcp
