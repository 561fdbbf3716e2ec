// staging.h - registered memory through which small data goes: cheaper than registering its own.
#pragma once
#include <utofu.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace heddle::transport::utofu {

/// A ring of bytes. Pieces are taken in order and given back in any; room comes back from the
/// oldest on.
class staging {
 public:
  staging() = default;
  /// Over `memory`, whose first byte has this steering address. A power of two of bytes.
  staging(std::span<std::byte> memory, utofu_stadd_t address)
      : memory_(memory), address_(address) {}

  struct piece {
    std::byte* at = nullptr;
    utofu_stadd_t address = 0;
    std::uint32_t ticket = 0;
  };
  /// Nothing: no room now. At most half the ring can be asked for.
  [[nodiscard]] std::optional<piece> take(std::size_t bytes);
  /// Any ticket taken and not given back yet.
  void give_back(std::uint32_t ticket) noexcept;
  /// Takes the piece of the last take() back.
  void untake() noexcept;
  /// Everything up to and including this ticket is free.
  void give_back_up_to(std::uint32_t ticket) noexcept;
  [[nodiscard]] bool empty() const noexcept { return first_ == next_; }
  [[nodiscard]] std::size_t size() const noexcept { return memory_.size(); }

 private:
  struct entry {
    std::uint64_t begin = 0, end = 0;
    bool free = false;
  };
  [[nodiscard]] entry& of(std::uint32_t ticket) noexcept { return entries_[ticket & mask_]; }
  void grow();
  void drop_free() noexcept;

  std::span<std::byte> memory_;
  utofu_stadd_t address_ = 0;
  std::uint64_t head_ = 0, tail_ = 0;  // bytes taken and freed since the beginning
  std::uint32_t mask_ = 63;
  std::unique_ptr<entry[]> entries_ = std::make_unique<entry[]>(mask_ + 1);
  std::uint32_t first_ = 0, next_ = 0;  // tickets in use
};

}  // namespace heddle::transport::utofu
