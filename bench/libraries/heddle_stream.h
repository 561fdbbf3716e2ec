// SPDX-License-Identifier: BSD-3-Clause
// heddle_stream.h - large tagged messages of Heddle's, one after the other, beside what is
// measured.
#pragma once
#include <heddle/heddle.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libraries/locked_lane.h"
#include "libraries/station.h"

namespace heddle::bench {

/// One end of them: that which sends, or that which receives. An empty message is the last. One
/// thread. Functions throw std::runtime_error when an operation fails.
class heddle_stream {
 public:
  heddle_stream(lane& on, locked_lane turns, rank peer, tag as, std::uint64_t bytes)
      : lane_(on), turns_(turns), peer_(peer), tag_(as), memory_(bytes) {}

  void send() {
    if (is_moving()) return;
    finish();
    begin([this] { return lane_.try_send(peer_, tag_, memory_, ended_); });
  }
  void end_sending() {
    finish();
    require(turns_.send(peer_, tag_, {}), "end a stream");
  }
  void receive() {
    if (is_moving()) return;
    finish();
    begin([this] { return lane_.try_recv(peer_, tag_, memory_, ended_); });
  }
  void end_receiving() {
    do {
      receive();
      finish();
    } while (ended_.result().bytes != 0);
  }

 private:
  [[nodiscard]] bool is_moving() const { return posted_ && !ended_.ready(); }
  void finish() {
    if (!posted_) return;
    require(turns_.wait(ended_), "wait for a large message");
    posted_ = false;
  }
  template <class Attempt>
  void begin(Attempt attempt) {
    ended_.reset();
    status s = turns_.turn(attempt);
    for (; is_busy(s); s = turns_.turn(attempt)) turns_.poll();
    require(s, "begin a large message");
    posted_ = true;
  }

  lane& lane_;
  const locked_lane turns_;
  const rank peer_;
  const tag tag_;
  std::vector<std::byte> memory_;
  flag ended_;
  bool posted_ = false;
};

}  // namespace heddle::bench
