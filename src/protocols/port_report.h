// SPDX-License-Identifier: BSD-3-Clause
// port_report.h - what a lane waits for, in words and numbers: for people who ask a job that hangs.
#pragma once
#include <heddle/counters.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::protocols {

/// Times are when something was first seen by census::stamp() or a report, so it waits for longer
/// by up to the interval between two of these: nothing is stamped when it is posted.
struct port_report {
  /// Of each list that may be long; the counts tell of all.
  static constexpr std::size_t most = 50;

  struct operation {
    std::string_view kind, stage;
    rank peer = any_source;
    heddle::tag tag = 0;
    std::uint64_t bytes = 0, since_ns = 0;
  };
  struct receive {
    rank source = any_source;
    tag_match match{0};
    std::uint64_t bytes = 0, since_ns = 0;
  };
  struct message {
    rank source = 0;
    heddle::tag tag = 0;
    std::uint64_t bytes = 0, since_ns = 0;
    bool announced = false;  ///< only that it is there: its data is still at the sender
  };
  struct peer {
    heddle::rank number = 0;
    int lane = 0;                       ///< of the peer
    bool lost = false, asked = false;   ///< asked: for a sign of life
    std::string why;                    ///< lost: in words
    std::uint64_t silent_since_ns = 0;  ///< 0: nothing is expected of it, or it has just been heard
    peer_counters counted;
  };
  std::size_t operation_count = 0, receive_count = 0, message_count = 0;
  std::vector<operation> operations;
  std::vector<receive> receives;  // oldest first, as the next two
  std::vector<message> messages;
  std::vector<peer> peers;  // those the lane has had to do with
};

}  // namespace heddle::protocols
