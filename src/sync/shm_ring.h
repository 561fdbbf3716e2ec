// shm_ring.h - a ring of messages in shared memory: one producer process, one consumer process.
//
// 64-byte lines. A record is whole lines; the first word of its first line is {length, tag}, the
// message follows it, so a message of up to 56 bytes costs the transfer of one cache line. The tag
// is the lap number: the consumer polls the first word of the line where the next record must
// begin, and anything but {.., tag of this lap} there means "nothing yet".
//
// That needs stale bytes to be harmless: a line that held the middle of a record in the last lap
// may show anything in its first word. The producer remembers such lines and, before it publishes a
// record, clears the first word of the line behind it if it is one of them. Hence a line behind the
// record is always kept free. (The consumer could clear them instead, but would have to fetch every
// line for writing only to have the producer fetch it back.)
//
// Records do not wrap: what does not fit before the end is skipped by a padding record.
// The two sides do not trust each other: any bytes in the ring are survived, see `corrupt`.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sync/published.h"
#include "sync/sleep_word.h"

namespace heddle::sync {

inline constexpr std::size_t ring_line = 64;

/// The words beside the lines. Zero-filled memory is an empty ring at position 0.
struct ring_control {
  alignas(64) std::atomic<std::uint64_t> head;  ///< lines freed so far; consumer
  published<std::uint32_t> attached;            ///< 1: the consumer has mapped the ring
  alignas(64) sleep_word producer_waits;        ///< the producer sleeps until lines are freed
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
/// Messages are mostly a few words; a call of memcpy would cost more than the copying.
inline void copy(std::byte* to, std::span<const std::byte> from) noexcept {
  const std::byte* at = from.data();
  std::size_t left = from.size();
  if (left > ring_line) {
    std::memcpy(to, at, left);
    return;
  }
  for (; left >= 8; left -= 8, to += 8, at += 8) std::memcpy(to, at, 8);
  for (; left != 0; --left) *to++ = *at++;
}
}  // namespace ring_detail

/// What both sides know of a ring. Constant.
struct ring_place {
  ring_control* control = nullptr;
  std::byte* lines = nullptr;  ///< 64-byte aligned
  std::uint32_t count = 0;     ///< of lines; a power of two, at least 64
  std::uint64_t position = 0;  ///< where both sides begin; control->head says the same

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
        lap_shift_(place.lap_shift()),
        position_(place.position),
        head_(place.position),
        stale_(place.count, 0) {}

  /// Appends header + data, at most max_message() together, as one message. False: no room.
  [[nodiscard]] bool try_push(std::span<const std::byte> header,
                              std::span<const std::byte> data) noexcept {
    const std::uint64_t bytes = header.size() + data.size();
    const std::uint64_t need = ring_detail::lines_of(bytes);
    if (const std::uint64_t rest = lines_to_end(); need > rest) [[unlikely]] {
      if (!has_room(rest + need)) return false;
      publish(rest, ring_detail::padding);
    } else if (!has_room(need)) {
      return false;
    }
    std::byte* const to = place_.line(position_) + sizeof(std::uint64_t);
    ring_detail::copy(to, header);
    ring_detail::copy(to + header.size(), data);
    if (need > 1) std::memset(&stale_[index() + 1], 1, need - 1);
    publish(need, static_cast<std::uint32_t>(bytes));
    return true;
  }

  /// Whether a message of `bytes` would be taken now. Looks at the consumer's side afresh.
  [[nodiscard]] bool would_take(std::size_t bytes) noexcept {
    const std::uint64_t need = ring_detail::lines_of(bytes), rest = lines_to_end();
    return has_room(need > rest ? rest + need : need);
  }
  [[nodiscard]] ring_control& control() const noexcept { return *place_.control; }

 private:
  [[nodiscard]] std::uint64_t index() const noexcept { return position_ & (place_.count - 1); }
  [[nodiscard]] std::uint64_t lines_to_end() const noexcept { return place_.count - index(); }

  /// `need` lines and the one behind them.
  [[nodiscard]] bool has_room(std::uint64_t need) noexcept {
    if (position_ + need + 1 - head_ <= place_.count) return true;
    const std::uint64_t seen =
        place_.control->head.load(std::memory_order_acquire);  // A2 pairs with R2
    // A head outside what was sent is a lie and counts as "full".
    if (position_ - seen <= place_.count) head_ = seen;
    return position_ + need + 1 - head_ <= place_.count;
  }

  /// Makes the `need` lines at position_ a record and moves on.
  void publish(std::uint64_t need, std::uint32_t length) noexcept {
    const std::uint64_t next = (position_ + need) & (place_.count - 1);
    if (stale_[next] != 0) {
      // Relaxed: published by R1 together with the record before it.
      ring_detail::word_of(place_.line(next)).store(0, std::memory_order_relaxed);
      stale_[next] = 0;
    }
    const std::uint64_t tag = ring_detail::tag_at(position_, lap_shift_);
    ring_detail::word_of(place_.line(position_))
        .store(tag << 32 | length, std::memory_order_release);  // R1 pairs with A1
    position_ += need;
  }

  ring_place place_;
  unsigned lap_shift_;
  std::uint64_t position_;
  std::uint64_t head_;               // control->head as last seen
  std::vector<std::uint8_t> stale_;  // by line: 1 when its first word may look like a record
};

/// One thread at a time.
class ring_consumer {
 public:
  explicit ring_consumer(const ring_place& place) noexcept
      : place_(place),
        lap_shift_(place.lap_shift()),
        position_(place.position),
        released_(place.position) {
    expect();
  }

  enum class taken : std::uint8_t { nothing, message, corrupt };

  /// The next message, in place. It stays valid until release(). corrupt: the producer has written
  /// what no producer writes; it will say so for ever.
  [[nodiscard]] taken try_take(std::span<const std::byte>& message) noexcept {
    const std::uint64_t word = peek();
    if (word >> 32 != tag_) [[likely]]
      return taken::nothing;
    const auto length = static_cast<std::uint32_t>(word);
    if (length == ring_detail::padding) [[unlikely]]
      return skip_padding(message);
    const std::uint64_t need = ring_detail::lines_of(length);
    if (need > place_.count / 8 || need > lines_to_end()) [[unlikely]]
      return taken::corrupt;
    message = {next_ + sizeof(std::uint64_t), length};
    position_ += need;
    expect();
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
    return ring_detail::word_of(next_).load(std::memory_order_acquire);  // A1 pairs with R1
  }
  [[nodiscard]] std::uint64_t lines_to_end() const noexcept {
    return place_.count - (position_ & (place_.count - 1));
  }
  void expect() noexcept {
    next_ = place_.line(position_);
    tag_ = ring_detail::tag_at(position_, lap_shift_);
  }
  /// Padding at the first line would be a whole ring of it, and a loop of them endless.
  taken skip_padding(std::span<const std::byte>& message) noexcept {
    if ((position_ & (place_.count - 1)) == 0) return taken::corrupt;
    position_ += lines_to_end();
    expect();
    return try_take(message);
  }

  std::byte* next_ = nullptr;  // line of the next record
  std::uint32_t tag_ = 0;      // and the tag it will have
  ring_place place_;
  unsigned lap_shift_;
  std::uint64_t position_;
  std::uint64_t released_;  // position_ as last told to the producer
};

}  // namespace heddle::sync
