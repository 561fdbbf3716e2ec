// SPDX-License-Identifier: BSD-3-Clause
// endpoint_set.h - a lane's endpoints, one for each device, and how often each is asked for news.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/endpoint.h"

namespace heddle::protocols {

class arrivals;

/// Holder of the lane only.
class endpoint_set {
 public:
  using list = std::vector<std::unique_ptr<transport::endpoint>>;
  /// What they tell goes to `hearer`, which need not be there yet.
  endpoint_set(list all, arrivals& hearer);

  /// By device.
  [[nodiscard]] std::span<const std::unique_ptr<transport::endpoint>> all() const noexcept {
    return all_;
  }
  /// Asks those whose turn it is. Returns how many events there were.
  std::size_t poll() { return only_ != nullptr ? ask(*only_) : ask_those_due(); }
  /// See endpoint::arm. True: every endpoint is armed.
  [[nodiscard]] bool arm() noexcept;
  /// See endpoint::arm_loosely.
  [[nodiscard]] bool arm_loosely() noexcept;
  /// See endpoint::shares_core. Any endpoint's yes.
  [[nodiscard]] bool shares_core(int core) const noexcept;
  /// See endpoint::idle. Every endpoint is.
  [[nodiscard]] bool idle() const noexcept;
  void maintain() noexcept;
  /// Lets all go.
  void close() noexcept;

 private:
  bool arm_by(bool (transport::endpoint::*way)() noexcept) noexcept;
  std::size_t ask(transport::endpoint& e) {
    const std::size_t n = e.poll(events_);
    if (n != 0) hand_over(n);
    return n;
  }
  [[gnu::noinline]] std::size_t ask_those_due();
  [[nodiscard]] bool due(std::size_t endpoint) const noexcept;
  [[gnu::noinline]] void hand_over(std::size_t n);

  list all_;
  transport::endpoint* only_;  // of these; null: there are several, or none any more
  arrivals& hearer_;
  std::array<transport::event, 32> events_;  // of the poll under way
  std::vector<std::uint32_t> empty_polls_;   // per endpoint, in a row
  std::uint32_t poll_number_ = 0;
};

}  // namespace heddle::protocols
