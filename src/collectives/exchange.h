// SPDX-License-Identifier: BSD-3-Clause
// exchange.h - what every collective's algorithm stands on: numbered messages among the ranks of a
// group, and a failure that travels with them instead of stopping anyone.
#pragma once
#include <heddle/coroutine.h>
#include <heddle/group.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>

namespace heddle::collectives {

using bytes = std::span<std::byte>;
using const_bytes = std::span<const std::byte>;

/// How a receive of `expected` bytes went. An empty message is a peer's word that it failed.
inline status judge(const outcome& what, std::size_t expected) noexcept {
  if (what.code != status::done || what.bytes == expected) return what.code;
  return what.bytes == 0 ? status::peer_lost : status::invalid;
}

/// One collective of one group, seen by one rank. Used by one coroutine at a time. Ranks are those
/// in the group. Its messages have tags that those of the program cannot have
/// (lane::try_send_collective).
///
/// Messages carry at least one byte, because empty ones tell of failure: from the first failed
/// receive on, everything this rank sends is empty. The algorithms go on regardless, so every rank
/// sends and receives exactly the messages it would without a failure, and none waits for nothing.
template <class Lane>
class exchange {
 public:
  explicit exchange(basic_async_group<Lane> on) noexcept : group_(on), tag_(on.next_tag()) {}

  [[nodiscard]] rank self() const noexcept { return group_.self(); }
  [[nodiscard]] int ranks() const noexcept { return group_.ranks(); }
  /// The rank `distance` after this one, and before it, around the ring.
  [[nodiscard]] rank after(int distance) const noexcept { return (self() + distance) % ranks(); }
  [[nodiscard]] rank before(int distance) const noexcept {
    return (self() - distance + ranks()) % ranks();
  }
  /// `done`, or the first failure noted: what the collective returns.
  [[nodiscard]] status health() const noexcept { return health_; }
  /// Whether all that was to be received has been: a failed send leaves this rank's data intact.
  [[nodiscard]] bool intact() const noexcept { return intact_; }

  auto send(rank to, unsigned round, const_bytes data) const noexcept {
    const auto post = [there = group_.world_rank(to), t = tag_of(round),
                       said = intact_ ? data : const_bytes{}](Lane& l, completion c) noexcept {
      return l.try_send_collective(there, t, said, c);
    };
    return operation<status, Lane, decltype(post)>(*group_.on(), post);
  }
  auto recv(rank from, unsigned round, bytes into) const noexcept {
    const auto post = [there = group_.world_rank(from), t = tag_of(round), into](
                          Lane& l, completion c) noexcept {
      return l.try_recv_collective(there, t, into, c);
    };
    return operation<outcome, Lane, decltype(post)>(*group_.on(), post);
  }
  /// Both at once: two ranks that send each other large messages wait for each other's receive.
  auto swap(unsigned round, rank to, const_bytes data, rank from, bytes into) const noexcept {
    return when_all(send(to, round, data), recv(from, round, into));
  }

  void note(status ended) noexcept {
    if (health_ == status::done) health_ = ended;
  }
  void note(const outcome& received, std::size_t expected) noexcept {
    const status ended = judge(received, expected);
    intact_ = intact_ && ended == status::done;
    note(ended);
  }
  void note(const std::tuple<status, outcome>& swapped, std::size_t expected) noexcept {
    note(std::get<0>(swapped));
    note(std::get<1>(swapped), expected);
  }

 private:
  /// Rounds may wrap: messages between two ranks with one tag match in the order they were sent.
  [[nodiscard]] tag tag_of(unsigned round) const noexcept {
    return tag_ | (round & ((1u << detail::membership::round_bits) - 1));
  }

  basic_async_group<Lane> group_;
  tag tag_;
  status health_ = status::done;
  bool intact_ = true;
};

/// Memory of a collective's own, not zeroed, aligned for any type.
class scratch {
 public:
  explicit scratch(std::size_t size)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
  [[nodiscard]] bytes all() const noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] bytes first(std::size_t n) const noexcept { return all().first(n); }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_;
};

/// Equal blocks in a buffer, one per rank.
template <class Byte>
class blocks {
 public:
  blocks(std::span<Byte> all, std::size_t block) noexcept : all_(all), block_(block) {}
  [[nodiscard]] std::span<Byte> at(int first, int count = 1) const noexcept {
    return all_.subspan(static_cast<std::size_t>(first) * block_,
                        static_cast<std::size_t>(count) * block_);
  }

 private:
  std::span<Byte> all_;
  std::size_t block_;
};

/// The two may be the same memory.
inline void copy(const_bytes from, bytes to) noexcept {
  if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
}

[[nodiscard]] inline bool is_rank(rank r, int ranks) noexcept {
  return r >= 0 && r < ranks;
}

/// True when `all` is exactly `ranks` blocks of `block` bytes.
[[nodiscard]] inline bool is_blocks(std::size_t all, std::size_t block, int ranks) noexcept {
  const auto n = static_cast<std::size_t>(ranks);
  return all / n == block && all % n == 0;
}

}  // namespace heddle::collectives
