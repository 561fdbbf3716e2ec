// SPDX-License-Identifier: BSD-3-Clause
// host_map.h - which host each rank of a job is on, and what people call it.
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::engine {

/// What tells a host from all others.
using host_key = std::array<std::byte, 16>;

/// Keeps 4 bytes per rank, and per host 4 and its name. Threads: constant after close().
class host_map {
 public:
  /// The next rank, from 0, is on the host of this key.
  void add(const host_key& key) { keys_.push_back(key); }
  /// All ranks have been added: what tells hosts apart is let go. `name_of` is asked for the first
  /// rank of each host, whose name is the host's.
  void close(const std::function<std::string_view(rank)>& name_of);

  /// Hosts are numbered in the order of their first ranks.
  [[nodiscard]] int host_of(rank r) const noexcept {
    return static_cast<int>(host_of_[static_cast<std::size_t>(r)]);
  }
  [[nodiscard]] bool same(rank a, rank b) const noexcept { return host_of(a) == host_of(b); }
  [[nodiscard]] std::string_view name_of(int host) const noexcept;
  [[nodiscard]] int hosts() const noexcept { return static_cast<int>(name_ends_.size()); }
  [[nodiscard]] int ranks_beside(rank r) const noexcept;  ///< on its host, itself included

 private:
  std::vector<std::uint32_t> host_of_;    // by rank
  std::string names_;                     // of all hosts, one behind the other
  std::vector<std::uint32_t> name_ends_;  // by host: in names_
  std::vector<host_key> keys_;            // by rank, until close()
};

}  // namespace heddle::engine
