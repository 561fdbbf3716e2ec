// SPDX-License-Identifier: BSD-3-Clause
// network_job.h - for tests: a collective on all ranks of a fake network, and buffers for it.
#pragma once
#include <heddle/group.h>
#include <heddle/task.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "collectives/fake_network.h"

namespace heddle::test {

using on_lane = basic_async_group<fake_lane>;
using item = std::uint32_t;
using start_function = std::function<task<status>(on_lane, rank)>;

struct job {
  explicit job(const test::fake_options& options)
      : network(options), codes(static_cast<std::size_t>(options.ranks), status::posted) {}

  void start(rank r, const start_function& begin) {
    auto& code = codes[static_cast<std::size_t>(r)];
    spawn(record(begin(on_lane(&network.lane(r)), r), code, running));
  }
  static task<> record(task<status> work, status& code, std::atomic<int>& running) {
    const status ended = co_await std::move(work);
    code = ended;
    running.fetch_sub(1, std::memory_order_release);  // pairs with the acquire of who waits
  }
  /// Runs `begin` on all ranks; afterwards codes has what each returned.
  void run(const start_function& begin) {
    running = static_cast<int>(codes.size());
    for (rank r = 0; r < static_cast<rank>(codes.size()); ++r) start(r, begin);
    network.deliver_all();
  }
  [[nodiscard]] bool all_done() const {
    return std::ranges::all_of(codes, [](status s) { return s == status::done; });
  }

  fake_network network;
  std::vector<status> codes;
  std::atomic<int> running = 0;
};

/// Buffers of all ranks; item i of rank r holds r * 100'000 + i.
struct buffers {
  buffers(int ranks, std::size_t items, bool numbered) : of(static_cast<std::size_t>(ranks)) {
    for (rank r = 0; r < ranks; ++r) {
      mine(r).resize(items);
      if (numbered) std::iota(mine(r).begin(), mine(r).end(), value(r, 0));
    }
  }
  static item value(rank r, std::size_t i) {
    return static_cast<item>(r) * 100'000 + static_cast<item>(i);
  }
  std::vector<item>& mine(rank r) { return of[static_cast<std::size_t>(r)]; }
  std::span<std::byte> out(rank r) { return std::as_writable_bytes(std::span(mine(r))); }
  std::span<const std::byte> in(rank r) { return out(r); }
  std::vector<std::vector<item>> of;
};

}  // namespace heddle::test
