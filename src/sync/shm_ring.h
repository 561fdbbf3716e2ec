// SPDX-License-Identifier: BSD-3-Clause
// shm_ring.h - a ring of messages in shared memory: one producer process, one consumer process.
//
// Lines of 64 bytes. A record is whole lines; the first word of its first line is {length, tag},
// the message follows it, so a message of up to 56 bytes costs the transfer of one cache line.
// (Where those have 256 bytes, up to four short records share one: a burst costs fewer transfers, a
// single message as many, and none costs the memory.) The tag is the lap number: the consumer polls
// the first word of the line where the next record must begin, and anything but {.., tag of this
// lap} there means "nothing yet".
//
// That needs stale bytes to be harmless: a line that held the middle of a record in the last lap
// may show anything in its first word. The producer remembers such lines and, before it publishes a
// record, clears the first word of the line behind it if it is one of them. Hence a line behind the
// record is always kept free. (The consumer could clear them instead, but would have to fetch every
// line for writing only to have the producer fetch it back.)
//
// In the first lap the producer has memory that was never touched put in place before it writes
// there, in portions: a fault for each page costs ten times as much.
//
// Records do not wrap: what does not fit before the end is skipped by a padding record.
// The two sides do not trust each other: any bytes in the ring are survived, see `corrupt`.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/copy.h"
#include "sync/cache_line.h"
#include "sync/release_acquire.h"
#include "sync/sleep_word.h"

namespace heddle::sync {

inline constexpr std::size_t ring_line = 64;

/// The words beside the lines. Zero-filled memory is an empty ring at position 0.
struct ring_control {
  alignas(cache_line) std::atomic<std::uint64_t> head;  ///< lines freed so far; consumer
  release_acquire<std::uint32_t> attached;              ///< 1: the consumer has mapped the ring
  alignas(cache_line) sleep_word producer_waits;  ///< the producer sleeps until lines are freed
};

namespace ring_detail {
constexpr std::uint32_t padding = 0xffffffff;  // as a length: go on at the ring's first line

/// Never 0, so that a zeroed line is never a record.
constexpr std::uint32_t tag_at(std::uint64_t position, unsigned lap_shift) noexcept {
  return static_cast<std::uint32_t>(position >> lap_shift) | 0x8000'0000u;
}
constexpr std::uint64_t lines_of(std::uint64_t message_bytes) noexcept {
  return (sizeof(std::uint64_t) + message_bytes + ring_line - 1) / ring_line;
}
inline std::atomic_ref<std::uint64_t> word_of(std::byte* line) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(line));
}
}  // namespace ring_detail

/// What both sides know of a ring. Constant.
struct ring_place {
  ring_control* control = nullptr;
  std::byte* lines = nullptr;  ///< 64-byte aligned
  std::uint32_t count = 0;     ///< of lines; a power of two, at least 64
  std::uint64_t position = 0;  ///< where both sides begin; control->head says the same
  /// Called by the producer before it first writes to these lines; none: they need no such thing.
  void (*provide)(std::span<std::byte> lines) noexcept = nullptr;

  /// Largest message: a record takes at most an eighth of the ring.
  [[nodiscard]] std::size_t max_message() const noexcept {
    return count / 8 * ring_line - sizeof(std::uint64_t);
  }
  [[nodiscard]] unsigned lap_shift() const noexcept {
    return static_cast<unsigned>(std::countr_zero(count));
  }
  [[nodiscard]] std::byte* line(std::uint64_t position_or_index) const noexcept {
    return lines + (position_or_index & (count - 1)) * ring_line;
  }
};

/// One thread at a time.
class ring_producer {
 public:
  explicit ring_producer(const ring_place& place)
      : place_(place),
        mask_(place.count - 1),
        position_(place.position),
        limit_(place.position),
        provided_(place.provide != nullptr ? place.position : all_provided),
        stale_(place.count, 0) {
    move_to(position_);
    begin_lap();
  }

  /// Appends the parts, at most max_message() together, as one message. False: no room.
  [[nodiscard]] bool try_push(std::span<const std::byte> head, std::span<const std::byte> header,
                              std::span<const std::byte> data) noexcept {
    const std::uint64_t bytes = head.size() + header.size() + data.size();
    const std::uint64_t need = ring_detail::lines_of(bytes);
    if (index() + need > place_.count) [[unlikely]] {
      if (!skip_the_end(need)) return false;
    } else if (!has_room(need)) [[unlikely]] {
      return false;
    }
    std::byte* const at = line_ + sizeof(std::uint64_t);
    copy_few(at, head);
    copy_few(at + head.size(), header);
    copy_few(at + head.size() + header.size(), data);
    if (need > 1) std::memset(&stale_[index() + 1], 1, need - 1);
    publish(need, static_cast<std::uint32_t>(bytes));
    return true;
  }

  /// What fits into a line beside its first word.
  static constexpr std::size_t line_bytes = ring_line - sizeof(std::uint64_t);
  /// As try_push for a message of two words, `header` and `data`, together at most line_bytes: one
  /// line, which needs no search for its place.
  [[nodiscard]] bool try_push_line(std::uint64_t first, std::uint64_t second,
                                   std::span<const std::byte> header,
                                   std::span<const std::byte> data) noexcept {
    if (position_ + 1 >= limit_ && !has_room(1)) [[unlikely]]
      return false;
    std::byte* const at = line_ + sizeof(std::uint64_t);
    std::memcpy(at, &first, sizeof first);
    std::memcpy(at + sizeof first, &second, sizeof second);
    std::byte* const body = at + sizeof first + sizeof second;
    copy_short(body, header);
    copy_short(body + header.size(), data);
    publish(1, static_cast<std::uint32_t>(2 * sizeof first + header.size() + data.size()));
    return true;
  }

  /// Whether a message of `bytes` would be taken now. Looks at the consumer's side afresh.
  [[nodiscard]] bool would_take(std::size_t bytes) noexcept {
    const std::uint64_t need = ring_detail::lines_of(bytes), rest = place_.count - index();
    return has_room(need > rest ? rest + need : need);
  }
  /// The consumer's side has been heard: what is pushed next may be an answer, and not one of many.
  /// Of many in a row each line is fetched before its message is there. A line that the consumer
  /// looks at already, as it does where one message is waited for, would be fetched in vain.
  /// Returns whether something was pushed since the consumer's side was last heard, or ever.
  bool heard() noexcept {
    const std::uint64_t answer_ends = position_ + lines_of_answer;
    return std::exchange(stream_from_, answer_ends) != answer_ends;
  }
  [[nodiscard]] ring_control& control() const noexcept { return *place_.control; }

 private:
  static constexpr std::uint64_t lines_of_answer = 16;
  static constexpr std::uint64_t all_provided = ~std::uint64_t{0};
  static constexpr std::uint64_t first_portion = 256, largest_portion = 2048;  // 16 and 128 KiB

  /// `need` lines and the one behind them.
  [[nodiscard]] bool has_room(std::uint64_t need) noexcept {
    return position_ + need < limit_ || (look_at_head(need) && position_ + need < limit_);
  }
  /// False: the head lies outside what was sent, and counts as "full".
  bool look_at_head(std::uint64_t need) noexcept {
    const std::uint64_t head =
        place_.control->head.load(std::memory_order_acquire);  // A2 pairs with R2
    if (position_ - head > place_.count) return false;
    limit_ = head + place_.count;
    if (provided_ != all_provided) provide(position_ + need + 1);
    return true;
  }
  /// All lines before `until`, and as many again as there were, within bounds.
  void provide(std::uint64_t until) noexcept {
    const std::uint64_t begin = place_.position, end = begin + place_.count;
    while (provided_ < std::min(until, end)) {
      const std::uint64_t index = provided_ & mask_;
      const std::uint64_t portion = std::clamp(provided_ - begin, first_portion, largest_portion);
      const std::uint64_t count = std::min({portion, end - provided_, place_.count - index});
      place_.provide({place_.lines + index * ring_line, count * ring_line});
      provided_ += count;
    }
    limit_ = std::min(limit_, provided_);
    if (provided_ == end) provided_ = all_provided;
  }
  bool skip_the_end(std::uint64_t need) noexcept {
    const std::uint64_t rest = place_.count - index();
    if (!has_room(rest + need)) return false;
    publish(rest, ring_detail::padding);
    return true;
  }

  /// Makes the `need` lines at position_ a record and moves on.
  void publish(std::uint64_t need, std::uint32_t length) noexcept {
    const std::uint64_t word = tag_ | length;
    std::byte* const line = line_;
    move_to(position_ + need);
    if (position_ >= stream_from_) fetch_to_write(line_);
    if (stale_[index()] != 0) [[unlikely]] {
      // Relaxed: published by R1 together with the record before it.
      ring_detail::word_of(line_).store(0, std::memory_order_relaxed);
      stale_[index()] = 0;
      if (index() == 0) begin_lap();
    }
    ring_detail::word_of(line).store(word, std::memory_order_release);  // R1 pairs with A1
  }
  void move_to(std::uint64_t position) noexcept {
    position_ = position;
    line_ = place_.lines + index() * ring_line;
  }
  /// The first line counts as stale in each lap, so that nobody asks for it at every line.
  void begin_lap() noexcept {
    tag_ = std::uint64_t{ring_detail::tag_at(position_, place_.lap_shift())} << 32;
    stale_.front() = 1;
  }
  [[nodiscard]] std::uint64_t index() const noexcept { return position_ & mask_; }

  ring_place place_;
  std::uint64_t mask_;
  std::uint64_t position_;           // of the next record, in lines since the beginning
  std::uint64_t limit_;              // the lines before it are free to use, by the head last seen
  std::uint64_t provided_;           // the lines before it have memory
  std::uint64_t stream_from_ = 0;    // see heard()
  std::byte* line_ = nullptr;        // at position_
  std::uint64_t tag_ = 0;            // of this lap, in the upper half
  std::vector<std::uint8_t> stale_;  // by line: 1 when its first word may look like a record
};

/// One thread at a time.
class ring_consumer {
 public:
  explicit ring_consumer(const ring_place& place) noexcept
      : place_(place),
        mask_(place.count - 1),
        longest_(place.count / 8),
        position_(place.position),
        released_(place.position) {
    move_to(position_);
    tag_ = ring_detail::tag_at(position_, place_.lap_shift());
  }

  enum class taken : std::uint8_t { nothing, message, corrupt };

  /// The next message, in place. It stays valid until release(). corrupt: the producer has written
  /// what no producer writes; it will say so for ever.
  [[nodiscard]] taken try_take(std::span<const std::byte>& message) noexcept {
    const std::uint64_t word = peek();
    if (word >> 32 != tag_) return taken::nothing;
    const auto length = static_cast<std::uint32_t>(word);
    if (length > ring_producer::line_bytes) [[unlikely]]
      return take_long(length, message);
    message = {line_ + sizeof(std::uint64_t), length};
    move_to(position_ + 1);
    // Where there was one there are often more: fetch the line behind the next, which the next
    // look loads anyway. Behind the ring's end it is in vain.
    __builtin_prefetch(line_ + cache_line);
    return taken::message;
  }

  /// Whether try_take() would give anything but nothing.
  [[nodiscard]] bool has_work() const noexcept { return peek() >> 32 == tag_; }

  /// Gives all taken messages' lines back. The messages' bytes are gone.
  void release() noexcept {
    released_ = position_;
    place_.control->head.store(position_, std::memory_order_release);  // R2 pairs with A2
  }
  [[nodiscard]] bool holds_messages() const noexcept { return released_ != position_; }
  [[nodiscard]] ring_control& control() const noexcept { return *place_.control; }

 private:
  [[nodiscard]] std::uint64_t peek() const noexcept {
    return ring_detail::word_of(line_).load(std::memory_order_acquire);  // A1 pairs with R1
  }
  void move_to(std::uint64_t position) noexcept {
    position_ = position;
    line_ = place_.lines + index() * ring_line;
    if (index() == 0) tag_ = ring_detail::tag_at(position_, place_.lap_shift());
  }
  [[gnu::noinline]] taken take_long(std::uint32_t length,
                                    std::span<const std::byte>& message) noexcept {
    const std::uint64_t need = ring_detail::lines_of(length);
    if (need > longest_ || index() + need > place_.count)
      return length == ring_detail::padding ? skip_padding(message) : taken::corrupt;
    message = {line_ + sizeof(std::uint64_t), length};
    move_to(position_ + need);
    __builtin_prefetch(line_ + cache_line);
    return taken::message;
  }
  /// Padding at the first line would be a whole ring of it, and a loop of them endless.
  taken skip_padding(std::span<const std::byte>& message) noexcept {
    if (index() == 0) return taken::corrupt;
    move_to(position_ + place_.count - index());
    return try_take(message);
  }
  [[nodiscard]] std::uint64_t index() const noexcept { return position_ & mask_; }

  std::byte* line_ = nullptr;  // of the next record
  std::uint32_t tag_ = 0;      // which the next record will have
  ring_place place_;
  std::uint64_t mask_;
  std::uint64_t longest_;  // record, in lines
  std::uint64_t position_;
  std::uint64_t released_;  // position_ as last told to the producer
};

}  // namespace heddle::sync
