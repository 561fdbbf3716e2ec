// SPDX-License-Identifier: BSD-3-Clause
// loopback_hub.h - what the loopback devices of one job share.
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "transport/device.h"

namespace heddle::test {

/// A non-blocking eventfd.
class doorbell {
 public:
  doorbell();
  ~doorbell();
  doorbell(const doorbell&) = delete;
  doorbell& operator=(const doorbell&) = delete;
  void ring() noexcept;
  void silence() noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

/// All of it is guarded by `mutex`.
class loopback_hub {
 public:
  static constexpr std::size_t most_messages = 64;  ///< in one mailbox, per sender
  using lane_name = std::pair<rank, int>;
  struct message {
    lane_name from;
    std::vector<std::byte> bytes;
  };
  /// Who has posted an op that waits for another rank.
  class poster {
   public:
    /// `at` polls: carries out what waits for that.
    virtual void serve(rank at) = 0;
    /// The receive `what` of this lane is over.
    virtual void received(transport::op& what, status code) = 0;

   protected:
    ~poster() = default;
  };
  struct posted_receive {
    transport::op* what = nullptr;
    poster* by = nullptr;
  };
  /// What one lane of one rank receives and is woken by.
  struct mailbox {
    std::map<std::pair<lane_name, std::uint64_t>, posted_receive> receives;  ///< from whom, number
    std::deque<message> messages;
    std::map<lane_name, std::size_t> from;  ///< how many of them are from whom
    std::set<lane_name> waiting;            ///< whose post found no room
    doorbell bell;
    bool has_endpoint = false;
    bool is_awaited = false;  ///< an op waits until the rank polls
  };
  struct member {
    memory::region_table* regions = nullptr;
    doorbell bell;  ///< of the device: a lane without an endpoint got a message
    bool dead = false;
  };

  /// The hub of the job with this secret; made by the first who asks.
  static std::shared_ptr<loopback_hub> of(std::span<const std::byte, 32> secret);

  member& member_of(rank r) { return members_[r]; }
  mailbox& mailbox_of(lane_name of) { return mailboxes_[of]; }
  /// A lane of `r` that has messages or is awaited, and has no endpoint; or -1.
  [[nodiscard]] int lane_in_want(rank r) const;
  /// Wakes everybody, and keeps the dead from taking anything.
  void bury(rank r);

  std::mutex mutex;
  std::set<poster*> posters;  ///< all endpoints

 private:
  std::map<rank, member> members_;
  std::map<lane_name, mailbox> mailboxes_;
};

}  // namespace heddle::test
