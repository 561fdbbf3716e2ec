// host_map.h - which host each rank of a job is on, and what people call it.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::engine {

/// Keeps 4 bytes per rank, and per host 4 and its name. Threads: constant after close().
class host_map {
 public:
  /// The next rank, from 0, is on the host that `id` tells from all others. The first rank there
  /// gives the host its name.
  void add(std::string_view id, std::string_view name);
  /// All ranks have been added: what tells hosts apart is let go.
  void close();

  /// Hosts are numbered in the order of their first ranks.
  [[nodiscard]] int host_of(rank r) const noexcept {
    return static_cast<int>(host_of_[static_cast<std::size_t>(r)]);
  }
  [[nodiscard]] bool same(rank a, rank b) const noexcept { return host_of(a) == host_of(b); }
  [[nodiscard]] std::string_view name_of(int host) const noexcept;
  [[nodiscard]] int ranks_beside(rank r) const noexcept;  ///< on its host, itself included

 private:
  std::vector<std::uint32_t> host_of_;                    // by rank
  std::string names_;                                     // of all hosts, one behind the other
  std::vector<std::uint32_t> name_ends_;                  // by host: in names_
  std::unordered_map<std::string, std::uint32_t> known_;  // by id, until close()
};

}  // namespace heddle::engine
