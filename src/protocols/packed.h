// SPDX-License-Identifier: BSD-3-Clause
// packed.h - messages whose data the program keeps in many blocks: gathered before they are sent,
// scattered when they have come.
#pragma once
#include <heddle/completion.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace heddle::protocols {

/// A message's header and data, each in one piece, and whose end it is. Owned by its operation: it
/// passes the outcome on and frees itself. Throws std::bad_alloc.
class gathered {
 public:
  using blocks = std::span<const std::span<const std::byte>>;
  gathered(std::span<const std::byte> header, blocks from, const completion& ended);

  [[nodiscard]] std::span<const std::byte> header() const noexcept {
    return {bytes_.get(), header_bytes_};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {bytes_.get() + header_bytes_, size_};
  }
  [[nodiscard]] completion end() noexcept { return {&gathered::deliver, this, 0}; }

 private:
  static void deliver(void* owner, std::uint64_t, const outcome& what) noexcept;
  std::size_t header_bytes_, size_;
  std::unique_ptr<std::byte[]> bytes_;
  const completion ended_;
};

/// The same for a receive.
class scattered {
 public:
  using blocks = std::span<const std::span<std::byte>>;
  scattered(blocks into, const completion& ended);

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] completion end() noexcept { return {&scattered::deliver, this, 0}; }
  /// What the program gave with the receive that ends with `c`, a scattered one or not.
  [[nodiscard]] static const completion& of_program(const completion& c) noexcept;

 private:
  static void deliver(void* owner, std::uint64_t, const outcome& what) noexcept;
  void scatter(std::size_t came) const noexcept;
  std::vector<std::span<std::byte>> into_;
  std::size_t size_;
  std::unique_ptr<std::byte[]> bytes_;
  const completion ended_;
};

}  // namespace heddle::protocols
