// SPDX-License-Identifier: BSD-3-Clause
// send_buffer.h - the small frames of one connection that still have to be written, in order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace heddle::transport::tcp {

/// Owner thread only.
class send_buffer {
 public:
  explicit send_buffer(std::size_t capacity)
      : capacity_(capacity), bytes_(std::make_unique_for_overwrite<std::byte[]>(capacity)) {}

  /// Room for a frame of `bytes` at the end, which is then part of the stream. Null: there is none.
  [[nodiscard]] std::byte* extend(std::size_t bytes) noexcept {
    if (capacity_ - tail_ < bytes) {
      if (size() + bytes > capacity_) return nullptr;
      move_to_front();
    }
    return take(bytes);
  }
  /// The same, if the frame may wait with those that are gathered, for which one comparison tells
  /// that nothing else stands against it. Null: it may not, and nothing has happened.
  [[nodiscard]] std::byte* join(std::size_t bytes) noexcept {
    return tail_ + bytes > gather_end_ ? nullptr : take(bytes);
  }
  /// From here on frames are gathered, so many bytes of them; 0: none.
  void gather(std::size_t most) noexcept {
    gather_end_ = most == 0 ? 0 : std::min(head_ + most, capacity_);
  }
  [[nodiscard]] bool gathers() const noexcept { return gather_end_ != 0; }
  /// True when more waits than was to be gathered.
  [[nodiscard]] bool has_gathered() const noexcept { return tail_ > gather_end_; }

  /// The bytes that wait, oldest first.
  [[nodiscard]] const std::byte* data() const noexcept { return bytes_.get() + head_; }
  [[nodiscard]] std::size_t size() const noexcept { return tail_ - head_; }
  /// The oldest `bytes` were written.
  void drop(std::size_t bytes) noexcept {
    head_ += bytes;
    if (head_ == tail_) head_ = tail_ = gather_end_ = 0;
  }

 private:
  [[nodiscard]] std::byte* take(std::size_t bytes) noexcept {
    std::byte* at = bytes_.get() + tail_;
    tail_ += bytes;
    return at;
  }
  void move_to_front() noexcept {
    std::memmove(bytes_.get(), data(), size());
    tail_ -= head_;
    head_ = gather_end_ = 0;
  }

  const std::size_t capacity_;
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t head_ = 0, tail_ = 0;
  std::size_t gather_end_ = 0;  // where the last frame that join() takes ends; 0: it takes none
};

}  // namespace heddle::transport::tcp
