// lane_messenger.h - the link tester's messages over a lane of heddle.
#pragma once
#include <heddle/lane.h>
#include <heddle/world.h>

#include <chrono>
#include <memory>
#include <vector>

#include "linktest/messenger.h"

namespace heddle::linktest {

/// Completions of operations that were given up: they may still be delivered, even while the world
/// ends. Must outlive the world.
class abandoned {
 public:
  void keep(std::unique_ptr<flag> f) { flags_.push_back(std::move(f)); }
  /// Whether every one has been delivered, so that nothing writes to the messages' memory any more.
  [[nodiscard]] bool settled() const noexcept;

 private:
  std::vector<std::unique_ptr<flag>> flags_;
};

class lane_messenger final : public messenger {
 public:
  /// All three outlive it. `timeout` is the usual patience.
  lane_messenger(lane& path, std::chrono::nanoseconds timeout, abandoned& given_up);

  [[nodiscard]] rank self() const noexcept override { return lane_.self(); }
  [[nodiscard]] int size() const noexcept override { return lane_.ranks(); }
  status send(rank to, tag t, std::span<const std::byte> data) override;
  status recv(rank from, tag t, std::span<std::byte> into, patience how) override;
  status exchange(rank peer, tag t, std::span<const std::byte> data,
                  std::span<std::byte> into) override;
  status send_burst(rank to, tag t, std::span<const std::byte> data, std::uint64_t count) override;
  status recv_burst(rank from, tag t, std::span<std::byte> slots, std::size_t bytes,
                    std::uint64_t count) override;

 private:
  /// One operation and its completion; `waiting` while it was accepted and has not been awaited.
  struct slot {
    std::unique_ptr<flag> done = std::make_unique<flag>();
    bool waiting = false;
  };

  template <class Operation>
  status post(slot& s, Operation operation);
  status start_send(slot& s, rank to, tag t, std::span<const std::byte> data);
  status start_recv(slot& s, rank from, tag t, std::span<std::byte> into);
  status finish(slot& s, std::chrono::nanoseconds limit);
  status finish_recv(slot& s, std::size_t bytes, std::chrono::nanoseconds limit);
  void give_up(slot& s);
  void give_up(std::vector<slot>& all);
  std::vector<slot>& at_least(std::vector<slot>& slots, std::size_t count);

  lane& lane_;
  std::chrono::nanoseconds timeout_;
  abandoned& given_up_;
  slot send_, recv_;
  std::vector<slot> sends_, receives_;  // of bursts
};

}  // namespace heddle::linktest
