// SPDX-License-Identifier: BSD-3-Clause
// port.h - an endpoint as the suite uses it: checks what holds for every event of every backend,
// and remembers the rest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "transport/device.h"

namespace heddle::test {

/// An op of the suite. Copies of it are posted, and known by its number.
struct op : transport::op {
  destination whom;  ///< for op::to
  std::uint64_t number = 0;
};

struct received {
  rank from = 0;
  int lane = 0;  ///< of `from`
  std::vector<std::byte> bytes;
};

/// One thread at a time, like the endpoint in it.
class port {
 public:
  port(rank self, int lane, std::unique_ptr<transport::endpoint> inner)
      : self_(self), lane_(lane), inner_(std::move(inner)) {}

  /// As endpoint::post, for the first ones. Every op gets a number of its own.
  transport::post_result post(std::span<op> ops);
  /// Polls once, for up to `batch` events. Messages' bytes are looked at again just before the next
  /// poll, until when they have to stay.
  std::size_t poll(std::size_t batch = 16);
  void maintain() { inner_->maintain(); }
  /// As endpoint::reach; the port's own lane where `d` names none.
  [[nodiscard]] transport::remote_lane* reach(destination d) {
    return inner_->reach(d.to, d.lane == same_lane ? lane_ : d.lane);
  }
  void drop(rank peer);

  [[nodiscard]] transport::endpoint& inner() { return *inner_; }
  [[nodiscard]] rank self() const { return self_; }
  [[nodiscard]] int lane() const { return lane_; }

  /// How an accepted op ended; posted while it has not.
  [[nodiscard]] status outcome(std::uint64_t number) const;
  [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }
  /// Nothing is in flight, and what was sent has left: nobody has to poll for it any more.
  [[nodiscard]] bool idle() const { return in_flight_.empty() && inner_->idle(); }
  /// How many accepted ops ended in this way.
  [[nodiscard]] std::size_t ended_with(status code) const;
  [[nodiscard]] std::size_t ended() const { return outcomes_.size(); }
  /// How many puts have ended well of which the wire tells, or has told.
  [[nodiscard]] std::size_t told() const { return told_; }
  [[nodiscard]] bool lost(rank peer) const { return lost_.contains(peer); }

  std::vector<received> inbox;
  /// When not empty: messages are given to this instead of the inbox.
  std::function<void(rank, std::span<const std::byte>)> on_message;
  /// When not empty: called once for every op that ended.
  std::function<void(std::uint64_t number, status)> on_end;

 private:
  struct lent_bytes {
    std::span<const std::byte> view;
    std::vector<std::byte> copy;
  };
  void check_lent();
  void take(const transport::event& e);
  void take_message(const transport::remote_lane& from, std::span<const std::byte> bytes);
  void end(std::uint64_t number, status code);

  const rank self_;
  const int lane_;
  std::unique_ptr<transport::endpoint> inner_;
  std::uint64_t next_number_ = 0;
  std::map<std::uint64_t, std::unique_ptr<op>> in_flight_;
  std::map<std::uint64_t, status> outcomes_;
  std::size_t told_ = 0;
  std::set<rank> lost_, dropped_;
  std::set<const transport::remote_lane*> told_lost_;
  std::vector<lent_bytes> lent_;  // by the last poll
};

}  // namespace heddle::test
