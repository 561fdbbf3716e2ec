// SPDX-License-Identifier: BSD-3-Clause
// shared_cq.h - the part of a CQ that peers see: its steering table and its MRQ, in one sealed
// memfd of the owner. Every process computes the layout from the machine's settings.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ids.h"
#include "machine_file.h"
#include "mrq_ring.h"

namespace tofu {

inline constexpr std::uint64_t shared_cq_magic = 0x736f'6674'6371'0001;

/// What an entry of the steering table says. To a peer every word may be a lie.
struct region_facts {
  std::uint64_t origin = 0;  ///< address of offset 0, in the owner
  std::uint64_t begin = 0;   ///< offsets that are registered: [begin, end)
  std::uint64_t end = 0;
  std::uint64_t file_origin = 0;  ///< where offset 0 lies in the file (modulo 2^64)
  std::uint64_t device = 0, inode = 0;
  std::int32_t fd = -1;  ///< of the file, in the owner; -1: private memory
};

/// One steering tag. `state` changes with every registration and deregistration.
class alignas(64) stag_entry {
 public:
  static constexpr std::uint64_t valid = 1, read_only = 2, counter = 4;

  [[nodiscard]] std::uint64_t state() const noexcept {
    return state_.load(std::memory_order_seq_cst);  // A1 pairs with R1; S1: after enter()
  }
  /// Between these the memory behind the tag may be touched, if state() says so after enter().
  void enter() noexcept { users_.fetch_add(1, std::memory_order_seq_cst); }  // S1 pairs with S2
  void leave() noexcept {
    // Relaxed: only the count. It is 0 for one that was given up.
    std::uint32_t users = users_.load(std::memory_order_relaxed);
    while (users != 0 &&
           !users_.compare_exchange_weak(users, users - 1, std::memory_order_release,  // R3: A3
                                         std::memory_order_relaxed)) {
    }
  }
  /// After withdraw(): whether those who found it still have left, and what they did is visible.
  [[nodiscard]] bool is_left() const noexcept {
    return users_.load(std::memory_order_seq_cst) == 0;  // A3; S2: after withdraw()
  }
  /// After withdraw(): those who are still there were killed, and will not be waited for again.
  void give_up_users() noexcept {
    users_.store(0, std::memory_order_relaxed);  // nothing that they did is waited for
  }
  /// The facts that belong to `state`. False: it has changed meanwhile.
  [[nodiscard]] bool read(std::uint64_t state, region_facts& facts) const noexcept {
    // Relaxed, all: made visible by A1, and checked once more behind the fence.
    facts.origin = origin_.load(std::memory_order_relaxed);
    facts.begin = begin_.load(std::memory_order_relaxed);
    facts.end = end_.load(std::memory_order_relaxed);
    facts.file_origin = file_origin_.load(std::memory_order_relaxed);
    facts.device = device_.load(std::memory_order_relaxed);
    facts.inode = inode_.load(std::memory_order_relaxed);
    facts.fd = fd_.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);  // F2 pairs with F1
    return state_.load(std::memory_order_relaxed) == state;
  }
  /// Owner, one thread at a time; the entry is withdrawn.
  void publish(const region_facts& facts, bool writable) noexcept {
    std::atomic_thread_fence(
        std::memory_order_release);  // F1 pairs with F2: withdrawn, then reused
    // Relaxed, all: published by R1.
    origin_.store(facts.origin, std::memory_order_relaxed);
    begin_.store(facts.begin, std::memory_order_relaxed);
    end_.store(facts.end, std::memory_order_relaxed);
    file_origin_.store(facts.file_origin, std::memory_order_relaxed);
    device_.store(facts.device, std::memory_order_relaxed);
    inode_.store(facts.inode, std::memory_order_relaxed);
    fd_.store(facts.fd, std::memory_order_relaxed);
    const std::uint64_t now = state_.load(std::memory_order_relaxed);  // our own store
    state_.store((now & ~read_only) + counter + valid + (writable ? 0 : read_only),
                 std::memory_order_release);  // R1 pairs with A1
  }
  /// Owner: from now on nobody who asks finds it.
  void withdraw() noexcept {
    const std::uint64_t now = state_.load(std::memory_order_relaxed);  // our own store
    state_.store((now & ~(valid | read_only)) + counter, std::memory_order_seq_cst);  // R1, S2
  }

 private:
  std::atomic<std::uint64_t> state_;
  std::atomic<std::uint64_t> origin_, begin_, end_, file_origin_, inode_;
  std::atomic<std::uint64_t> device_;
  std::atomic<std::int32_t> fd_;
  std::atomic<std::uint32_t> users_;
};
static_assert(sizeof(stag_entry) == 64);

/// Somebody at the memory behind a tag: as long as it lives, the deregistration waits.
class stag_visit {
 public:
  stag_visit() = default;
  stag_visit(const stag_visit&) = delete;
  stag_visit& operator=(const stag_visit&) = delete;
  ~stag_visit() {
    if (at_ != nullptr) at_->leave();
  }
  /// Once.
  void begin(stag_entry& at) noexcept {
    at_ = &at;
    at_->enter();
  }

 private:
  stag_entry* at_ = nullptr;
};

/// Zero-filled memory plus `magic`, `claim` and `owner` is a new CQ.
struct shared_cq {
  std::uint64_t magic;
  std::uint64_t owner;              ///< process_stamp
  std::atomic<std::uint32_t> dead;  ///< 1: its MRQ has overflowed
  shared_lock armw;
  mrq_control mrq;
  stag_entry stags[1];  ///< as many as stags_of(); the MRQ's slots follow
};

/// Tags 0 to 4095 are reserved, then two for each automatic registration.
inline std::size_t stags_of(const settings& set) noexcept {
  return first_automatic_tag + 2 * set[knob::stags];
}
inline std::size_t mrq_offset(const settings& set) noexcept {
  return offsetof(shared_cq, stags) + stags_of(set) * sizeof(stag_entry);
}
inline std::size_t shared_cq_bytes(const settings& set) noexcept {
  return mrq_offset(set) + set[knob::mrq] * sizeof(mrq_slot);
}
inline mrq_slot* mrq_slots(shared_cq& cq, const settings& set) noexcept {
  return reinterpret_cast<mrq_slot*>(reinterpret_cast<std::byte*>(&cq) + mrq_offset(set));
}

}  // namespace tofu
