// SPDX-License-Identifier: BSD-3-Clause
// gathered.h - what all ranks of a job have given in an exchange.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace heddle::bootstrap {

using blob = std::vector<std::byte>;

/// By rank, in one piece of memory: of this process, or mapped from a file that ranks of a host
/// share. Copies share it.
///
/// A table is, in the byte order of the machine: by rank where it begins (4 bytes), then in any
/// order what each has given: its length (4 bytes), its bytes.
class gathered {
 public:
  explicit gathered(std::span<const blob> all);
  /// Of `count` ranks. Nothing unless all that it says lies within it, and nothing else does.
  [[nodiscard]] static std::optional<gathered> decode(blob table, std::size_t count);
  /// The same, of a file (table_writer.h) that can change no more: nothing either if it can. The
  /// descriptor stays the caller's.
  [[nodiscard]] static std::optional<gathered> map(int file, std::size_t count);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// What this rank has given. Valid as long as this or a copy.
  [[nodiscard]] std::span<const std::byte> operator[](std::size_t rank) const noexcept;
  /// The table.
  [[nodiscard]] std::span<const std::byte> encoded() const noexcept { return table_; }

 private:
  gathered(std::shared_ptr<const void> keeper, std::span<const std::byte> table,
           std::size_t count) noexcept
      : keeper_(std::move(keeper)), table_(table), count_(count) {}
  [[nodiscard]] bool sound() const noexcept;

  std::shared_ptr<const void> keeper_;
  std::span<const std::byte> table_;
  std::size_t count_;
};

}  // namespace heddle::bootstrap
