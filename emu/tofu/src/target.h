// SPDX-License-Identifier: BSD-3-Clause
// target.h - a VCQ that commands are addressed to, as the initiator sees it: its CQ's shared part,
// mapped, and its registered memory, found and mapped on first use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine.h"
#include "shared_cq.h"

namespace tofu {

/// Where bytes lie: in our own address space, or else only in the other process's.
struct remote_place {
  std::byte* here = nullptr;
  std::uint64_t there = 0;
  stag_visit visit;
};

/// Used by one thread at a time.
class target {
 public:
  /// Empty: no such VCQ, or its process is gone.
  static std::unique_ptr<target> resolve(const machine& m, std::uint64_t vcq_id);

  /// Whether the VCQ is still the one that was resolved and its process lives.
  [[nodiscard]] bool is_valid() const noexcept {
    return entry_->claim.load(std::memory_order_acquire) == claim_ &&
           host::lives(*life_, life_value_);
  }
  /// Where `bytes` at `stadd` lie. False: nowhere we may go, `error` says why (UTOFU_ERR_MRQ_*).
  [[nodiscard]] bool find(std::uint64_t stadd, std::size_t bytes, bool to_write,
                          remote_place& where, int& error);

  [[nodiscard]] shared_cq& cq() const noexcept { return *cq_; }
  [[nodiscard]] bool is_dead() const noexcept {
    return cq_->dead.load(std::memory_order_relaxed) != 0;  // relaxed: nothing else is read for it
  }
  [[nodiscard]] mrq_producer& mrq() noexcept { return mrq_; }
  [[nodiscard]] unsigned cmp() const noexcept { return place_of_vcq(id_).cmp; }
  [[nodiscard]] unsigned tni() const noexcept { return place_of_vcq(id_).tni; }
  [[nodiscard]] unsigned node() const noexcept { return node_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  /// A tag as last seen; all zero is a tag never registered.
  struct known_region {
    std::uint64_t state = 0, begin = 0, end = 0;
    std::uint64_t there = 0;  ///< address of offset 0 in its process
    std::uint64_t here = 0;   ///< and in ours, modulo 2^64; 0: not mapped
    std::shared_ptr<host::mapping> file;
  };
  static constexpr unsigned chunk_bits = 6;
  target() = default;
  bool open(const machine& m);
  known_region& region_of(unsigned tag);
  bool learn(unsigned tag, std::uint64_t state, known_region& region);
  bool locate(const region_facts& facts, bool writable, known_region& region);
  void forget_withdrawn();

  std::uint64_t id_ = 0;
  const cq_entry* entry_ = nullptr;
  std::uint64_t claim_ = 0;
  const host::life_word* life_ = nullptr;
  std::uint32_t life_value_ = 0;
  shared_cq* cq_ = nullptr;
  unsigned cq_number_ = 0;
  unsigned tags_ = 0;
  // By tag, in chunks made on first use: of thousands of tags few are used, but by many targets.
  std::vector<std::unique_ptr<known_region[]>> regions_;
  std::vector<unsigned> mapped_;  // tags of regions with a mapping, and of some that had one
  std::size_t forget_at_ = 16;
  mrq_producer mrq_;
  bool ours_ = false;  // in this process
  pid_t pid_ = 0;
  unsigned node_ = 0;
  std::shared_ptr<host::mapping> map_;
};

/// The targets one CQ has sent to.
class target_cache {
 public:
  explicit target_cache(const machine& m) noexcept : machine_(m) {}

  /// nullptr: no such VCQ now. The pointer is good until the next call.
  [[nodiscard]] target* find(std::uint64_t vcq_id) {
    const std::uint64_t id = without_path(vcq_id);
    const recent& r = recent_[slot_of(id)];
    if (r.id == id && r.found->is_valid()) return r.found;
    return look_up(id);
  }

 private:
  struct recent {
    std::uint64_t id = 0;
    target* found = nullptr;
  };
  static constexpr unsigned slot_bits = 6;
  static constexpr std::size_t slot_of(std::uint64_t id) noexcept {
    return id * 0x9e37'79b9'7f4a'7c15 >> (64 - slot_bits);
  }
  target* look_up(std::uint64_t id);

  const machine& machine_;
  recent recent_[1u << slot_bits];
  std::unordered_map<std::uint64_t, std::unique_ptr<target>> all_;
};

/// CQs of this process, by TNI and number: their owner's mapping is used instead of another one.
void announce_own_cq(unsigned tni, unsigned cq, std::shared_ptr<host::mapping> map);

/// After fork, in the child.
void forget_mappings();

}  // namespace tofu
