// gathered.h - what all ranks of a job have given in an exchange.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heddle::bootstrap {

using blob = std::vector<std::byte>;

/// By rank, in one piece of memory and not one for each.
class gathered {
 public:
  explicit gathered(std::span<const blob> all);
  /// As protocol::encode_blobs() writes it. Nothing unless it is exactly `count` blobs of lengths
  /// that may be given.
  [[nodiscard]] static std::optional<gathered> decode(blob encoded, std::size_t count);

  [[nodiscard]] std::size_t size() const noexcept { return begins_.size(); }
  /// What this rank has given. Valid as long as this.
  [[nodiscard]] std::span<const std::byte> operator[](std::size_t rank) const noexcept;
  /// What decode() takes.
  [[nodiscard]] std::span<const std::byte> encoded() const noexcept { return encoded_; }

 private:
  gathered() = default;

  blob encoded_;
  std::vector<std::uint32_t> begins_;  // by rank: where in encoded_ its length is
};

}  // namespace heddle::bootstrap
