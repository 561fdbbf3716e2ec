// host_gifts.h - what the ranks of a job give, host by host, and how that is written into a store:
// by a leader {1, for each of its ranks: rank, length, bytes}, by the others {0, rank of the
// leader}.
#pragma once
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bootstrap/bootstrap.h"

namespace heddle::bootstrap {

/// One thread.
class host_gifts {
 public:
  using gifts = std::vector<std::pair<int, blob>>;

  /// Of nobody yet.
  explicit host_gifts(int size) : all_(static_cast<std::size_t>(size)) {}

  void add(const gifts& of_host);
  /// The same, as encode() has written it. False: it is no such thing.
  [[nodiscard]] bool add(std::span<const std::byte> encoded);
  [[nodiscard]] bool has(int rank) const noexcept {
    return valid(rank) && all_[static_cast<std::size_t>(rank)].has_value();
  }
  /// By rank. Throws error: somebody's is missing.
  [[nodiscard]] gathered take();

  [[nodiscard]] static blob encode(const gifts& of_host);
  [[nodiscard]] static blob encode_leader(int leader);
  /// Nothing: it is what a leader has written, or makes no sense.
  [[nodiscard]] static std::optional<int> decode_leader(std::span<const std::byte> encoded);

 private:
  [[nodiscard]] bool valid(int rank) const noexcept {
    return rank >= 0 && static_cast<std::size_t>(rank) < all_.size();
  }

  std::vector<std::optional<blob>> all_;
};

}  // namespace heddle::bootstrap
