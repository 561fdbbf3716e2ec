// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/store_tree.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "bootstrap/launcher_protocol.h"

namespace heddle::bootstrap {
namespace {

/// Levels of groups, the uppermost is one of all ranks.
int levels_for(int size, int group) {
  int levels = 1;
  for (long ranks = group; ranks < size; ranks *= group) ++levels;
  return levels;
}

std::size_t size_of(int file) {
  const off_t bytes = lseek(file, 0, SEEK_END);
  if (bytes < 0) fail_errno(errno, "read the table of all ranks' addresses");
  return static_cast<std::size_t>(bytes);
}

}  // namespace

std::string gifts_key(int round) {
  return fmt::format("heddle-{}", round);
}

std::string group_key(int round, int level, int group) {
  return fmt::format("heddle-{}-{}-{}", round, level, group);
}

std::string piece_key(int round, std::size_t piece) {
  return fmt::format("heddle-{}-all-{}", round, piece);
}

store_tree::store_tree(access store, int size, int group)
    : store_(std::move(store)), size_(size), group_(group), levels_(levels_for(size, group)) {}

unique_fd store_tree::exchange(int round, const host_gifts::gifts& here) {
  if (here.size() == static_cast<std::size_t>(size_)) return exchange_here(here);
  store_.put(gifts_key(round), host_gifts::encode(here));
  store_.fence();
  groups below;
  for (int level = 1; level < levels_; ++level) {
    below = put_groups(round, level, here, below);
    store_.fence();
  }
  const bool first = std::ranges::any_of(here, [](const auto& gift) { return gift.first == 0; });
  unique_fd table;
  if (first) table = take_all(round, here, below);
  if (first) put_pieces(round, table.get());
  store_.fence();
  return first ? std::move(table) : get_pieces(round);
}

/// All ranks of the job are on one host.
unique_fd store_tree::exchange_here(const host_gifts::gifts& here) {
  for (int fence = 0; fence < fences(); ++fence) store_.fence();
  table_writer table(here.size());
  for (const auto& [rank, given] : here) table.add(static_cast<std::size_t>(rank), given);
  return table.finish();
}

long store_tree::ranks_in(int level) const noexcept {
  long ranks = 1;
  for (int l = 0; l < level; ++l) ranks *= group_;
  return ranks;
}

/// What a rank has put in the first exchange tells who speaks for it.
int store_tree::leader_of(int rank) {
  const auto known = leaders_.find(rank);
  if (known != leaders_.end()) return known->second;
  const auto leader = host_gifts::decode_leader(store_.get(rank, gifts_key(1)));
  return leaders_[rank] = leader.value_or(rank);
}

void store_tree::take(const blob& value, int from, const target& into) const {
  const auto add = [&](int rank, std::span<const std::byte> given) {
    if (!into.has(rank)) into.add(rank, given);
  };
  if (!host_gifts::decode(value, size_, add))
    fail("what rank {} has given for its host, or others, is malformed", from);
}

/// Of a smallest group, by asking one rank of each host, or two: it need not be the leader.
void store_tree::take_hosts(int round, int first, int end, const target& into) {
  for (int rank = first; rank < end; ++rank) {
    if (into.has(rank)) continue;
    const auto known = leaders_.find(rank);
    int from = known != leaders_.end() ? known->second : rank;
    blob value = store_.get(from, gifts_key(round));
    if (const auto leader = host_gifts::decode_leader(value)) {
      from = *leader;
      value = store_.get(from, gifts_key(round));
    }
    leaders_[rank] = from;
    take(value, from, into);
    if (!into.has(rank)) fail("rank {} does not speak for rank {}", from, rank);
  }
}

/// Of the groups of the level below. `own` are those that this leader has put itself.
void store_tree::take_groups(int round, int level, int first, int end, const groups& own,
                             const target& into) {
  const auto step = static_cast<int>(ranks_in(level - 1));
  for (int rank = first; rank < end; rank += step) {
    const int group = rank / step;
    const auto mine = own.find(group);
    if (mine != own.end()) {
      take(mine->second, rank, into);
      continue;
    }
    const int from = leader_of(rank);
    take(store_.get(from, group_key(round, level - 1, group)), from, into);
  }
}

store_tree::groups store_tree::put_groups(int round, int level, const host_gifts::gifts& here,
                                          const groups& below) {
  groups made;
  const long ranks = ranks_in(level);
  for (const auto& [first, unused] : here) {
    if (first % ranks != 0) continue;
    const auto end = static_cast<int>(std::min<long>(first + ranks, size_));
    host_gifts gifts(first, end);
    const target into{[&](int rank) { return gifts.has(rank); },
                      [&](int rank, auto given) { gifts.add(rank, given); }};
    for (const auto& [rank, given] : here) gifts.add(rank, given);
    if (level == 1)
      take_hosts(round, first, end, into);
    else
      take_groups(round, level, first, end, below, into);
    const auto group = static_cast<int>(first / ranks);
    made[group] = gifts.take();
    store_.put(group_key(round, level, group), made[group]);
  }
  return made;
}

unique_fd store_tree::take_all(int round, const host_gifts::gifts& here, const groups& below) {
  table_writer table(static_cast<std::size_t>(size_));
  const target into{
      [&](int rank) { return table.has(static_cast<std::size_t>(rank)); },
      [&](int rank, auto given) { table.add(static_cast<std::size_t>(rank), given); }};
  for (const auto& [rank, given] : here) table.add(static_cast<std::size_t>(rank), given);
  if (levels_ == 1)
    take_hosts(round, 0, size_, into);
  else
    take_groups(round, levels_, 0, size_, below, into);
  return table.finish();
}

/// Each begins with how many there are.
void store_tree::put_pieces(int round, int table) const {
  const std::size_t bytes = size_of(table);
  const auto count = static_cast<std::uint32_t>((bytes + bytes_in_piece - 1) / bytes_in_piece);
  for (std::uint32_t piece = 0; piece < count; ++piece) {
    const std::size_t begin = piece * bytes_in_piece;
    const std::size_t length = std::min(bytes_in_piece, bytes - begin);
    blob value(sizeof count + length);
    std::memcpy(value.data(), &count, sizeof count);
    const ssize_t got =
        pread(table, value.data() + sizeof count, length, static_cast<off_t>(begin));
    if (got != static_cast<ssize_t>(length))
      fail_errno(errno, "read the table of all ranks' addresses");
    store_.put(piece_key(round, piece), value);
  }
}

unique_fd store_tree::get_pieces(int round) {
  const int from = leader_of(0);
  const std::size_t most =
      protocol::max_everything(static_cast<std::size_t>(size_)) / bytes_in_piece + 1;
  table_file table;
  std::uint32_t count = 1;
  for (std::uint32_t piece = 0; piece < count; ++piece) {
    const blob value = store_.get(from, piece_key(round, piece));
    if (value.size() >= sizeof count) std::memcpy(&count, value.data(), sizeof count);
    if (value.size() < sizeof count || count > most)
      fail("what rank {} has given for all ranks is malformed", from);
    table.append(std::span(value).subspan(sizeof count));
  }
  return table.seal();
}

}  // namespace heddle::bootstrap
