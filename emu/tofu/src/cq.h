// SPDX-License-Identifier: BSD-3-Clause
// cq.h - a CQ as its owner sees it: the VCQs on it, its TOQ, its TCQ and the taking side of its
// MRQ.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "chaos.h"
#include "engine.h"
#include "executor.h"
#include "fifo.h"

struct utofu_mrq_notice;

namespace tofu {

/// A TCQ entry. There is one for each command, in the order of posting.
struct completion {
  void* cbdata = nullptr;
  std::int16_t error = 0;
  std::uint8_t cmp = 0;
  std::uint8_t slots = 0;
  bool shown = false;
  std::atomic<bool> done{false};
  std::uint64_t moment = 0;  ///< on virtual clocks, see timing.h
};

class cq;

/// What a handle stands for.
struct vcq {
  cq* queue = nullptr;
  unsigned cmp = 0;
  bool thread_safe = false;
  std::uint64_t id = 0;

  struct finished {
    void* cbdata;
    int error;
    std::uint64_t moment;
  };
  // Sorted out of the CQ's queues by the poll of another VCQ; guarded like those.
  fifo<mrq_message> notices;
  fifo<finished> completions;
};

/// Which CQ it is, and what serves it.
struct cq_place {
  unsigned tni = 0;
  unsigned number = 0;
  bool exclusive = false;
  engine* server = nullptr;  ///< only in modes engine and chaos
};

class cq {
 public:
  /// The CQ exists in the machine already; `map` is its shared part and `fd` that part's file.
  cq(const machine& m, const settings& set, const cq_place& where,
     std::shared_ptr<host::mapping> map, host::owned_fd fd);
  ~cq();

  // --- queue operations: one thread at a time, see entry
  // ------------------------------------------- All return a utofu_return_code.
  int post(const vcq& from, operation& op, void* cbdata);
  /// All of a block of descriptors or none.
  int post_block(const vcq& from, std::span<const std::byte> descriptors, void* cbdata);
  int poll_tcq(vcq& of, void** cbdata);
  int poll_mrq(vcq& of, utofu_mrq_notice* notice);
  int count_tcq(vcq& of, std::size_t* count);
  int count_mrq(vcq& of, std::size_t* count);

  // --- VCQs: guarded by the process's lock, and by entry
  // ---------------------------------------------
  void add(vcq& one);
  void remove(vcq& one);
  [[nodiscard]] unsigned cmp_mask() const noexcept;
  /// Executes what was posted; before the process leaves.
  void flush();

  // --- the engine's
  // -------------------------------------------------------------------------------
  /// Executes some of what was posted; in mode chaos, when nobody has called since the last time.
  /// Returns 0 when there was nothing to do.
  std::size_t serve();

  [[nodiscard]] bool is_exclusive() const noexcept { return where_.exclusive; }
  [[nodiscard]] unsigned tni() const noexcept { return where_.tni; }
  [[nodiscard]] unsigned number() const noexcept { return where_.number; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] steering_table& steering() noexcept { return steering_; }
  /// Whether a bad length is refused when posting and not found later.
  [[nodiscard]] bool refuses_lengths() const noexcept { return refuses_lengths_; }

 private:
  class entry;
  [[nodiscard]] bool is_dead() const noexcept {
    return shared_.dead.load(std::memory_order_relaxed) !=
           0;  // relaxed: nothing else is read for it
  }
  void append(const vcq& from, operation& op, void* cbdata);
  void advance();
  void drain();
  std::uint64_t run_some(std::uint64_t most);
  void hand_to_chaos();
  void stir();
  void finish(completion& c, int code) noexcept;
  void sort_notices();
  void hand_over(const mrq_message& notice);

  const machine& machine_;
  const cq_place where_;
  const std::uint64_t id_;
  const mode mode_;
  const bool refuses_lengths_;
  const std::uint64_t depth_, batch_;
  const std::uint64_t call_ns_, virtual_ns_;  // what a post costs, really and on virtual clocks
  const host::owned_fd fd_;
  const std::shared_ptr<host::mapping> map_;
  shared_cq& shared_;
  steering_table steering_;
  executor executor_;

  // Who is inside, see cq_entry.h. All below belongs to the one inside.
  alignas(64) std::atomic<std::uint32_t> inside_{0};
  std::uint64_t head_ = 0;                  // TCQ entries taken
  std::atomic<std::uint64_t> tail_{0};      // commands posted; also read by the engine
  std::atomic<std::uint64_t> executed_{0};  // of those in queue_; the engine's if there is one
  std::uint64_t used_slots_ = 0;
  bool called_ = false;  // since the last serve(); mode chaos
  const std::unique_ptr<completion[]> completions_;
  const std::unique_ptr<operation[]> queue_;  // only where commands wait
  const std::unique_ptr<chaos> chaos_;        // only in mode chaos
  mrq_consumer mrq_;
  vcq* vcqs_[cmp_ids] = {};
};

}  // namespace tofu
