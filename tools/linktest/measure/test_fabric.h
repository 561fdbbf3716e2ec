// SPDX-License-Identifier: BSD-3-Clause
// test_fabric.h - ranks as threads of one process: a messenger for tests, with dead ranks, broken
// links and bit flips on request.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "linktest/measure/messenger.h"

namespace heddle::linktest {

class test_fabric {
 public:
  explicit test_fabric(int ranks) : ranks_(ranks) {}
  [[nodiscard]] int ranks() const noexcept { return ranks_; }

  /// Every message of `bytes` or more from `from` to `to` arrives with one bit flipped.
  void corrupt(rank from, rank to, std::size_t bytes) { corrupt_[{from, to}] = bytes; }
  /// Neither direction works any more.
  void cut(rank a, rank b) {
    const std::lock_guard lock(mutex_);
    cut_.insert({a, b});
    cut_.insert({b, a});
    changed_.notify_all();
  }
  void kill(rank who) {
    const std::lock_guard lock(mutex_);
    dead_.insert(who);
    changed_.notify_all();
  }
  /// Calls `body` once per rank, each on its own thread.
  void run(const std::function<void(messenger&)>& body);

 private:
  friend class test_messenger;
  using channel = std::tuple<rank, rank, tag>;
  using message = std::vector<std::byte>;

  [[nodiscard]] bool reachable(rank a, rank b) const {
    return !cut_.contains({a, b}) && !dead_.contains(a) && !dead_.contains(b);
  }

  int ranks_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::map<channel, std::deque<message>> waiting_;
  std::map<std::pair<rank, rank>, std::size_t> corrupt_;
  std::set<std::pair<rank, rank>> cut_;
  std::set<rank> dead_;
};

class test_messenger final : public messenger {
 public:
  test_messenger(test_fabric& fabric, rank self) : fabric_(fabric), self_(self) {}
  [[nodiscard]] rank self() const noexcept override { return self_; }
  [[nodiscard]] int size() const noexcept override { return fabric_.ranks_; }

  status send(rank to, tag t, std::span<const std::byte> data) override {
    const std::lock_guard lock(fabric_.mutex_);
    if (!fabric_.reachable(self_, to)) return status::peer_lost;
    std::vector<std::byte> copy(data.begin(), data.end());
    const auto flips = fabric_.corrupt_.find({self_, to});
    if (flips != fabric_.corrupt_.end() && copy.size() >= flips->second)
      copy[copy.size() / 2] ^= std::byte{4};
    fabric_.waiting_[{self_, to, t}].push_back(std::move(copy));
    fabric_.changed_.notify_all();
    return status::done;
  }

  status recv(rank from, tag t, std::span<std::byte> into, patience) override {
    std::unique_lock lock(fabric_.mutex_);
    auto& queue = fabric_.waiting_[{from, self_, t}];
    fabric_.changed_.wait(lock, [&] { return !queue.empty() || !fabric_.reachable(self_, from); });
    if (!fabric_.reachable(self_, from)) return status::peer_lost;
    const std::vector<std::byte> taken = std::move(queue.front());
    queue.pop_front();
    if (taken.size() != into.size()) return status::truncated;
    std::memcpy(into.data(), taken.data(), taken.size());
    return status::done;
  }

  status exchange(rank peer, tag t, std::span<const std::byte> data,
                  std::span<std::byte> into) override {
    const status s = send(peer, t, data);
    return s == status::done ? recv(peer, t, into, patience::usual) : s;
  }

  status send_burst(rank to, tag t, std::span<const std::byte> data, std::uint64_t count,
                    std::uint64_t) override {
    status s = status::done;
    for (std::uint64_t i = 0; i < count && s == status::done; ++i) s = send(to, t, data);
    return s;
  }

  status recv_burst(rank from, tag t, std::span<std::byte> slots, std::size_t bytes,
                    std::uint64_t count) override {
    status s = status::done;
    for (std::uint64_t i = 0; i < count && s == status::done; ++i) {
      const std::size_t slot = i % (slots.size() / bytes);
      s = recv(from, t, slots.subspan(slot * bytes, bytes), patience::usual);
    }
    return s;
  }

 private:
  test_fabric& fabric_;
  rank self_;
};

inline void test_fabric::run(const std::function<void(messenger&)>& body) {
  std::vector<std::jthread> threads;
  for (rank r = 0; r < ranks_; ++r) {
    threads.emplace_back([this, r, &body] {
      test_messenger wire(*this, r);
      body(wire);
    });
  }
}

}  // namespace heddle::linktest
