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
#include <utility>
#include <vector>

#include "backends/utofu/shared_memory.h"

namespace heddle::backends::utofu {

struct link;
struct flight;

/// What is under way, oldest first, each known by its position modulo edata_numbers.
class flight_queue {
 public:
  struct entry {
    flight* tracked = nullptr;  ///< nullptr: an access with nothing to do at its end but to tell
    std::uint64_t cookie = 0;   ///< of such an access
    bool there = false;
  };

  /// What the next one is to be posted with.
  [[nodiscard]] std::uint8_t next_edata() const noexcept { return number(tail_); }
  void push(flight* tracked, std::uint64_t cookie) {
    if (tail_ - head_ == cells_.size()) grow();
    cells_[tail_++ & (cells_.size() - 1)] = {tracked, cookie, true};
  }
  /// Takes back the youngest, which was not posted after all.
  void unpush() noexcept { --tail_; }
  /// The oldest with this number, which leaves the queue; not `there`: no such.
  [[nodiscard]] entry take(std::uint64_t edata) noexcept {
    const std::uint64_t at = head_ + (edata - head_) % edata_numbers;
    if (edata >= edata_numbers || at >= tail_) return {};
    const entry found = std::exchange(cells_[at & (cells_.size() - 1)], {});
    drop_taken();
    return found;
  }
  /// The oldest of all, which leaves the queue; not `there`: empty.
  [[nodiscard]] entry take_oldest() noexcept;
  /// It will have no notice.
  void forget(const flight& f) noexcept;
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }

 private:
  static std::uint8_t number(std::uint64_t position) noexcept {
    return static_cast<std::uint8_t>(position % edata_numbers);
  }
  void grow();
  void drop_taken() noexcept {
    while (head_ != tail_ && !cells_[head_ & (cells_.size() - 1)].there) ++head_;
  }

  std::vector<entry> cells_ = std::vector<entry>(16);
  std::uint64_t head_ = 0, tail_ = 0;
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

}  // namespace heddle::backends::utofu
