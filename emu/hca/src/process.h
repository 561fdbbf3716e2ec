// SPDX-License-Identifier: BSD-3-Clause
// process.h - this process as a part of the fabric: what all its open devices share.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "arena.h"
#include "capacity.h"
#include "counters.h"
#include "engine.h"
#include "fabric.h"
#include "keys.h"
#include "peers.h"
#include "shared_pipe.h"

namespace hca {

class qp;

class process {
 public:
  /// Joins the fabric when first asked. nullptr: it cannot be joined; stderr says why.
  static process* get();
  /// Does not join. nullptr: nobody has.
  static process* joined() noexcept;

  [[nodiscard]] const settings& set() const noexcept { return set_; }
  [[nodiscard]] link_layer link() const noexcept { return set_.choice<link_layer>(knob::link); }
  [[nodiscard]] mode how() const noexcept { return set_.choice<mode>(knob::mode); }
  [[nodiscard]] bool is_chaos() const noexcept { return how() == mode::chaos; }
  [[nodiscard]] hca::arena& memory() noexcept { return arena_; }
  [[nodiscard]] hca::fabric& fabric() noexcept { return *fabric_; }
  [[nodiscard]] peer_table& peers() noexcept { return *peers_; }
  [[nodiscard]] pipe_writer& pipes() noexcept { return pipes_; }
  [[nodiscard]] key_owner& keys() noexcept { return *keys_; }
  [[nodiscard]] const key_table& key_entries() const noexcept { return arena_.at<key_table>(0); }
  [[nodiscard]] hca::engine& engine() noexcept { return engine_; }

  /// So many bytes more are locked. False: that would be more than the process may lock.
  [[nodiscard]] bool lock_memory(std::uint64_t bytes) noexcept;
  void unlock_memory(std::uint64_t bytes) noexcept {
    locked_.fetch_sub(bytes, std::memory_order_relaxed);  // relaxed: a sum
  }

  [[nodiscard]] counters& count(unsigned device) noexcept { return counts_[device]; }
  /// For what has to be unlike everything else of its kind in this process. Never 0.
  [[nodiscard]] std::uint32_t next_number() noexcept {
    return numbers_.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only has to be unique
  }
  /// A number below `below`, by the seed of chaos.
  [[nodiscard]] std::uint64_t random(std::uint64_t below) noexcept;

  /// The queue pairs of this process, by QPN.
  void know(std::uint32_t number, std::shared_ptr<qp> one);
  void forget(std::uint32_t number);
  [[nodiscard]] std::shared_ptr<qp> find(std::uint32_t number);
  /// The same without a count, for who holds the lock of a CQ of it: it is not destroyed meanwhile.
  [[nodiscard]] qp* find_polled(std::uint32_t number) noexcept {
    // A1 pairs with R1: the queue pair is complete.
    qp* const one = polled_[number % max_qps].load(std::memory_order_acquire);
    return one;
  }
  /// Waits until nobody delivers with a key that was valid before.
  void wait_for_deliveries();

  /// Memory for a shared_qp, which never becomes anything else. 0: there is none left.
  [[nodiscard]] std::uint64_t take_qp_memory();
  void give_back_qp_memory(std::uint64_t at);

  /// At exit.
  void leave() noexcept;

 private:
  process() = default;
  bool join();

  hca::arena arena_;
  settings set_;
  std::optional<hca::fabric> fabric_;
  std::optional<peer_table> peers_;
  std::optional<key_owner> keys_;
  pipe_writer pipes_;
  hca::engine engine_;
  std::array<counters, max_devices> counts_;
  pid_t pid_ = 0;
  std::atomic<std::uint32_t> numbers_{1u << 24};  // unlike any QPN
  std::atomic<std::uint64_t> random_{1};
  std::atomic<std::uint64_t> locked_{0};  // bytes
  std::vector<std::atomic<qp*>> polled_ = std::vector<std::atomic<qp*>>(max_qps);
  std::mutex mutex_;  // guards all below
  std::unordered_map<std::uint32_t, std::shared_ptr<qp>> qps_;
  std::vector<std::uint64_t> free_qp_memory_;
};

}  // namespace hca
