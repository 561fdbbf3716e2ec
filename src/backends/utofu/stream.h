// stream.h - what this lane has under way to one VCQ of a peer, and how a notice finds its op.
//
// A notice names the other VCQ, the kind of operation, and 8 bits we chose. Operations of one kind
// between two VCQs end in the order they were posted (research: utofu.md 1.9, 3.2.9), so those bits
// are the low end of a number: any count of operations may be under way, where the published design
// had to flush after 200. Should notices overtake each other by less than 128, each still finds its
// own.
#pragma once
#include <utofu.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/utofu/shared_memory.h"
#include "transport/op.h"

namespace heddle::transport::utofu {

struct link;
struct flight;

/// What is under way, oldest first, each known by its position modulo edata_numbers.
class flight_queue {
 public:
  /// A flight, or an access with nothing to do at its end but to tell; or neither.
  class entry {
   public:
    entry() = default;
    explicit entry(flight& tracked) : what_(reinterpret_cast<std::uintptr_t>(&tracked)) {}
    explicit entry(op& access) : what_(reinterpret_cast<std::uintptr_t>(&access) | plain) {}
    [[nodiscard]] bool there() const noexcept { return what_ != 0; }
    [[nodiscard]] bool is_plain() const noexcept { return (what_ & plain) != 0; }
    [[nodiscard]] op& access() const noexcept {
      return *reinterpret_cast<op*>(what_ - plain);  // NOLINT: the constructor's
    }
    [[nodiscard]] flight* tracked() const noexcept {
      return reinterpret_cast<flight*>(what_);  // NOLINT: the constructor's
    }
    void clear() noexcept { what_ = 0; }

   private:
    static constexpr std::uintptr_t plain = 1;
    std::uintptr_t what_ = 0;
  };

  flight_queue() : cells_(std::make_unique<entry[]>(mask_ + 1)) {}
  /// What the next one is to be posted with.
  [[nodiscard]] std::uint8_t next_edata() const noexcept {
    return static_cast<std::uint8_t>(tail_ % edata_numbers);
  }
  /// The next push takes memory.
  [[nodiscard]] bool full() const noexcept { return tail_ - head_ > mask_; }
  void push(const entry& e) {
    if (full()) [[unlikely]]
      grow();
    cells_[tail_++ & mask_] = e;
  }
  /// Takes back the youngest, which was not posted after all.
  void unpush() noexcept { --tail_; }
  /// The oldest with this number, which leaves the queue; not `there`: no such.
  [[nodiscard]] entry take(std::uint64_t edata) noexcept {
    const std::uint64_t at = head_ + (edata - head_) % edata_numbers;
    if (edata >= edata_numbers || at >= tail_) [[unlikely]]
      return {};
    entry& cell = cells_[at & mask_];
    const entry found = cell;
    cell.clear();
    if (at == head_) [[likely]]
      drop_taken();
    return found;
  }
  /// The oldest of all, which leaves the queue; not `there`: empty.
  [[nodiscard]] entry take_oldest() noexcept;
  /// It will have no notice.
  void forget(const flight& f) noexcept;
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }

 private:
  void grow();
  void drop_taken() noexcept {
    while (head_ != tail_ && !cells_[head_ & mask_].there()) ++head_;
  }

  std::uint64_t head_ = 0, tail_ = 0, mask_ = 15;
  std::unique_ptr<entry[]> cells_;
};

enum class queue_name : std::uint8_t { puts, gets, atomics };

struct stream {
  utofu_vcq_id_t to = 0;  ///< with the path that posts take
  link* with = nullptr;
  std::array<flight_queue, 3> under_way;  ///< by queue_name
};

/// Streams by the id that notices show. Open addressing, at most half full.
class stream_map {
 public:
  stream_map() : cells_(16) {}
  [[nodiscard]] stream* find(utofu_vcq_id_t id) const noexcept {
    for (std::size_t i = home(id);; ++i) {
      const cell& c = cells_[i & (cells_.size() - 1)];
      if (c.value == nullptr || c.id == id) return c.value;
    }
  }
  void insert(utofu_vcq_id_t id, stream* value);

 private:
  struct cell {
    utofu_vcq_id_t id = 0;
    stream* value = nullptr;
  };
  [[nodiscard]] static std::size_t home(utofu_vcq_id_t id) noexcept {
    return static_cast<std::size_t>(id * 0x9e37'79b9'7f4a'7c15u >> 32);
  }
  void place(const cell& c) noexcept;

  std::vector<cell> cells_;
  std::size_t used_ = 0;
};

}  // namespace heddle::transport::utofu
