// SPDX-License-Identifier: BSD-3-Clause
// buffers.h - registered memory through which small data goes: cheaper than registering its own.
#pragma once
#include <utofu.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace heddle::transport::utofu {

/// Memory of a lane, and its steering address.
struct registered_memory {
  std::span<std::byte> bytes;
  utofu_stadd_t address = 0;
};

/// A ring of bytes for messages on their way out. Pieces are taken in order, and free in order. The
/// memory has a power of two of bytes.
class send_buffer {
 public:
  struct piece {
    std::byte* at = nullptr;
    utofu_stadd_t address = 0;
    std::uint64_t end = 0;  ///< a position, as all below: bytes since the beginning
  };
  explicit send_buffer(registered_memory over) : over_(over) {}
  /// Where the next one lies; take() makes it so. False: no room now.
  [[nodiscard]] bool find(std::size_t bytes, piece& out) const noexcept;
  void take(const piece& p) noexcept { taken_ = p.end; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  /// Takes back what was taken behind `position`.
  void retreat(std::uint64_t position) noexcept { taken_ = position; }
  /// What was taken up to `position` has left.
  void free_up_to(std::uint64_t position) noexcept { freed_ = position; }

 private:
  registered_memory over_;
  std::uint64_t taken_ = 0, freed_ = 0;
};

/// Slots of one size for the data of puts and gets; the one freed last, which a core's cache has,
/// is used next.
class slot_pool {
 public:
  slot_pool(registered_memory over, std::size_t slot_bytes);
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  /// nullptr: none is free.
  [[nodiscard]] std::byte* take() noexcept {
    if (count_ == 0) [[unlikely]]
      return nullptr;
    return free_[--count_];
  }
  void give_back(std::byte* slot) noexcept { free_[count_++] = slot; }
  [[nodiscard]] utofu_stadd_t address_of(const std::byte* slot) const noexcept {
    return over_.address + static_cast<std::uint64_t>(slot - over_.bytes.data());
  }

 private:
  registered_memory over_;
  std::size_t slot_bytes_;
  std::size_t count_;  // of those that are free
  std::unique_ptr<std::byte*[]> free_;
};

}  // namespace heddle::transport::utofu
