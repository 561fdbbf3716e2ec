// SPDX-License-Identifier: BSD-3-Clause
// store_tree.h - how the leaders of a job's hosts bring together what all ranks give, by a store.
//
// Ranks in a row make groups, as many groups in a row a larger one, up to one of all. On each level
// the leader of a group's first rank puts what the group gives, which it has from those of the
// level below; the leader of rank 0 puts the table of all, in pieces. So nobody gets more than a
// few values for each level, and the pieces, however many hosts there are.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/fd.h"
#include "bootstrap/host_gifts.h"
#include "bootstrap/table_writer.h"

namespace heddle::bootstrap {

/// Smallest groups, and how many of them make a larger one.
inline constexpr int store_group = 64;
/// Launchers' values are no longer.
inline constexpr std::size_t bytes_in_piece = std::size_t{1} << 20;

/// Keys, of which each rank puts none twice.
[[nodiscard]] std::string gifts_key(int round);
[[nodiscard]] std::string group_key(int round, int level, int group);
[[nodiscard]] std::string piece_key(int round, std::size_t piece);

/// One thread.
class store_tree {
 public:
  /// A store, with what all values have in common taken off.
  struct access {
    std::function<void(const std::string& key, std::span<const std::byte> value)> put;
    std::function<blob(int rank, const std::string& key)> get;
    std::function<void()> fence;
  };

  /// Of a job of `size`, in groups of `group`, which is 2 at least.
  store_tree(access store, int size, int group);

  /// Of an exchange, for every rank of the job.
  [[nodiscard]] int fences() const noexcept { return levels_ + 1; }

  /// A leader's part of one exchange, of the `round` from 1: `here` is what its ranks give. Returns
  /// a file for gathered::map(). Throws error: the store does, or somebody has given nonsense.
  [[nodiscard]] unique_fd exchange(int round, const host_gifts::gifts& here);

 private:
  /// Where gifts go to, by rank; none comes twice.
  struct target {
    std::function<bool(int rank)> has;
    std::function<void(int rank, std::span<const std::byte> given)> add;
  };
  using groups = std::map<int, blob>;

  [[nodiscard]] unique_fd exchange_here(const host_gifts::gifts& here);
  [[nodiscard]] long ranks_in(int level) const noexcept;
  [[nodiscard]] int leader_of(int rank);
  void take(const blob& value, int from, const target& into) const;
  void take_hosts(int round, int first, int end, const target& into);
  void take_groups(int round, int level, int first, int end, const groups& own, const target& into);
  [[nodiscard]] groups put_groups(int round, int level, const host_gifts::gifts& here,
                                  const groups& below);
  [[nodiscard]] unique_fd take_all(int round, const host_gifts::gifts& here, const groups& below);
  void put_pieces(int round, int table) const;
  [[nodiscard]] unique_fd get_pieces(int round);

  const access store_;
  const int size_, group_, levels_;
  std::map<int, int> leaders_;  // by rank, of those that were asked for
};

}  // namespace heddle::bootstrap
