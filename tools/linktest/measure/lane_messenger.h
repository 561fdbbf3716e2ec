// SPDX-License-Identifier: BSD-3-Clause
// lane_messenger.h - the link tester's messages over a lane of heddle.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linktest/measure/bounded_lane.h"

namespace heddle::linktest {

class lane_messenger final : public messenger {
 public:
  explicit lane_messenger(bounded_lane& path) : lane_(path) {}

  [[nodiscard]] rank self() const noexcept override { return lane_.path().self(); }
  [[nodiscard]] int size() const noexcept override { return lane_.path().ranks(); }
  status send(rank to, tag t, std::span<const std::byte> data) override;
  status recv(rank from, tag t, std::span<std::byte> into, patience how) override;
  status exchange(rank peer, tag t, std::span<const std::byte> data,
                  std::span<std::byte> into) override;
  status send_burst(rank to, tag t, std::span<const std::byte> data, std::uint64_t count,
                    std::uint64_t window) override;
  status recv_burst(rank from, tag t, std::span<std::byte> slots, std::size_t bytes,
                    std::uint64_t count) override;

 private:
  status start_send(bounded_lane::slot& s, rank to, tag t, std::span<const std::byte> data);
  status start_recv(bounded_lane::slot& s, rank from, tag t, std::span<std::byte> into);
  status finish_recv(bounded_lane::slot& s, rank from, std::size_t bytes,
                     patience how = patience::usual);

  bounded_lane& lane_;
  bounded_lane::slot send_, recv_;
  std::vector<bounded_lane::slot> receives_;  // of a burst
};

}  // namespace heddle::linktest
