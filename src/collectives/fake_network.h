// SPDX-License-Identifier: BSD-3-Clause
// fake_network.h - lanes of several ranks in one process for tests, without an engine: matches in
// order, completes in a random order chosen by a seed, may be busy, may lose a rank.
#pragma once
#include <heddle/completion.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <vector>

namespace heddle::test {

struct fake_options {
  int ranks = 1;
  std::uint64_t seed = 1;
  std::size_t eager_bytes = 256;  ///< longer sends wait for their receive, as rendezvous does
  unsigned busy_percent = 0;      ///< of the posts are answered busy
  rank victim = -1;               ///< dies at its operation number `dies_at`, from 0
  int dies_at = 0;
  rank second_victim = -1;  ///< and another one
  int second_dies_at = 0;
};

class fake_lane;

class fake_network {
 public:
  explicit fake_network(const fake_options& options);
  ~fake_network();

  [[nodiscard]] fake_lane& lane(rank r) noexcept { return *lanes_[static_cast<std::size_t>(r)]; }
  /// Delivers one completion, chosen at random. False: there is none. Any thread.
  bool deliver_one();
  /// Until none is left: on one thread then nothing can happen any more.
  void deliver_all() {
    while (deliver_one()) {
    }
  }
  /// Messages sent and not received, receives posted and not matched.
  [[nodiscard]] std::size_t left_over() const;
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  [[nodiscard]] bool dead(rank r) const noexcept {
    return std::ranges::any_of(victims_, [r](const victim& v) { return v.who == r && v.died; });
  }

 private:
  friend class fake_lane;
  struct event {
    completion to;
    outcome what;
  };
  struct sent {
    rank from, to;
    heddle::tag tag;
    std::vector<std::byte> data;
    completion waiting;  ///< of a send that waits for its receive
  };
  struct receive {
    rank at, from;
    tag_match match;
    std::span<std::byte> into;
    completion waiting;
  };

  status send(rank from, rank to, heddle::tag t, std::span<const std::byte> data, completion c);
  status recv(rank at, rank from, tag_match t, std::span<std::byte> into, completion c);
  bool pretends_busy();
  bool dead_now(rank r);
  void die(rank gone);
  void match(const sent& message, const receive& wanted);

  mutable std::mutex mutex_;  // guards all that follows
  fake_options options_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<fake_lane>> lanes_;
  std::vector<event> events_;
  std::deque<sent> messages_waiting_;
  std::deque<receive> receives_waiting_;
  std::uint64_t messages_ = 0;
  struct victim {
    rank who;
    int operations_left;
    bool died = false;
  };
  std::array<victim, 2> victims_;
};

/// What the algorithms need of a lane. One thread per rank posts at a time.
class fake_lane {
 public:
  fake_lane(fake_network& network, rank self) noexcept : network_(network), self_(self) {}
  [[nodiscard]] rank self() const noexcept { return self_; }
  [[nodiscard]] int ranks() const noexcept { return network_.options_.ranks; }
  std::uint64_t next_collective() noexcept { return sequence_++; }
  std::uint64_t next_group() noexcept { return groups_++; }
  status try_send_collective(rank to, tag t, std::span<const std::byte> data,
                             completion c) noexcept {
    return network_.send(self_, to, t, data, c);
  }
  status try_recv_collective(rank from, tag t, std::span<std::byte> into, completion c) noexcept {
    return network_.recv(self_, from, t, into, c);
  }
  void when_ready(completion c) noexcept;

 private:
  fake_network& network_;
  rank self_;
  std::uint64_t sequence_ = 0, groups_ = 0;
};

}  // namespace heddle::test
