// SPDX-License-Identifier: BSD-3-Clause
// lane_carriers.h - put, call and get as carriers of the timed messages, over a lane of heddle.
#pragma once
#include <heddle/memory.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "linktest/measure/arrival_counter.h"
#include "linktest/measure/bounded_lane.h"
#include "linktest/measure/carrier.h"
#include "linktest/options.h"

namespace heddle::linktest {

/// The messages' memory on every rank. Peers write to `receive` and read from `send`.
struct common_memory {
  symmetric<std::byte> send, receive;
};

/// What put and call have in common: the peer's messages are counted where they arrive.
class counted_path : public told_path {
 public:
  /// All outlive it.
  counted_path(bounded_lane& path, const common_memory& memory, arrival_counter& arrived)
      : lane_(path), memory_(memory), arrived_(arrived) {}

  status prepare(messenger& wire, rank peer, std::uint64_t number,
                 const kernel_buffers& buffers) override;
  status send(rank to, tag t, std::span<const std::byte> data) override;
  status recv(rank from, tag t, std::span<std::byte> into, patience how) override;
  status exchange(rank peer, tag t, std::span<const std::byte> data,
                  std::span<std::byte> into) override;

 protected:
  /// Posts a message that the peer counts, to slot `number` modulo their number.
  virtual status post_counted(rank to, std::uint64_t number, std::span<const std::byte> data,
                              flag& done) = 0;
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t number, std::size_t bytes) const noexcept {
    return at_ + number % slots_ * bytes;
  }
  [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }
  status await(rank from, std::uint64_t count);

  bounded_lane& lane_;
  const common_memory& memory_;
  std::uint64_t their_ticket_ = 0;

 private:
  arrival_counter& arrived_;
  bounded_lane::slot one_;
  std::uint64_t at_ = 0, slots_ = 1;  // the receive buffer, on both sides
};

/// A put that notifies, for messages that are answered. Of a burst only the last one does, which is
/// posted when the others have arrived.
class put_path final : public counted_path {
 public:
  using counted_path::counted_path;
  status send_burst(rank to, tag t, std::span<const std::byte> data, std::uint64_t count,
                    std::uint64_t window) override;
  status recv_burst(rank from, tag t, std::span<std::byte> slots, std::size_t bytes,
                    std::uint64_t count) override;

 private:
  status post_counted(rank to, std::uint64_t number, std::span<const std::byte> data,
                      flag& done) override;
};

/// An active message, whose handler copies the data into the buffer.
class call_path final : public counted_path {
 public:
  using counted_path::counted_path;
  status prepare(messenger& wire, rank peer, std::uint64_t number,
                 const kernel_buffers& buffers) override;
  status send_burst(rank to, tag t, std::span<const std::byte> data, std::uint64_t count,
                    std::uint64_t window) override;
  status recv_burst(rank from, tag t, std::span<std::byte> slots, std::size_t bytes,
                    std::uint64_t count) override;

 private:
  status post_counted(rank to, std::uint64_t number, std::span<const std::byte> data,
                      flag& done) override;

  /// Of each slot: calls in flight refer to them, also those that were given up.
  std::array<arrival_counter::label, most_in_flight> labels_{};
};

class get_path final : public fetch_path {
 public:
  /// Both outlive it.
  get_path(bounded_lane& path, const common_memory& memory) : lane_(path), memory_(memory) {}

  status prepare(messenger& wire, rank peer, std::uint64_t number,
                 const kernel_buffers& buffers) override;
  status fetch(rank peer, std::span<std::byte> into) override;
  status fetch_burst(rank peer, std::span<std::byte> slots, std::size_t bytes, std::uint64_t count,
                     std::uint64_t window) override;

 private:
  bounded_lane& lane_;
  const common_memory& memory_;
  bounded_lane::slot one_;
  std::uint64_t at_ = 0;  // the send buffer, on both sides
};

/// One of each.
class lane_carriers {
 public:
  lane_carriers(bounded_lane& path, const common_memory& memory, arrival_counter& arrived)
      : put_(path, memory, arrived), call_(path, memory, arrived), get_(path, memory) {}
  [[nodiscard]] carrier of(operation op) noexcept;

 private:
  put_path put_;
  call_path call_;
  get_path get_;
};

}  // namespace heddle::linktest
