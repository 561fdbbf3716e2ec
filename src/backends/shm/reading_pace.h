// SPDX-License-Identifier: BSD-3-Clause
// reading_pace.h - how often a receiver that keeps up with a stream looks for its next messages.
//
// Who looks all the time takes each line in the moment in which it is written: for every message
// the sender's core has to win the line back, and the receiver's to fetch it. When looks are a
// moment apart, messages gather, and their lines travel one behind the other (docs/design/shm.md).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "sync/cache_line.h"

namespace heddle::transport::shm {

/// One lane's. `Now`: tests put in a clock of their own.
template <std::uint64_t (*Now)() noexcept = now_ns>
class reading_pace {
 public:
  /// So many looks that found something are a stream, if from the first `counted` on no two empty
  /// ones lie between, and none found answers.
  static constexpr int looks_of_stream = 16, counted = 4;
  /// A stream that goes on so long without answers has a sender that waits for nothing.
  static constexpr int looks_of_long_stream = 128;
  /// Who finds as many at once does not keep up, and looks again at once.
  static constexpr std::size_t many = 8, many_of_long_stream = 64;
  /// In a stream, from one look to the next. What the receiver does meanwhile counts.
  static constexpr std::uint64_t apart_ns = 400, apart_in_long_stream_ns = 800;

  /// A look found so many messages.
  void found(std::size_t messages) noexcept {
    if (++looks_ > counted) [[unlikely]]
      follow(messages);
  }
  /// A look found answers. Who waits for each of them is not to find it 400 ns later, however
  /// seldom it looks.
  void end() noexcept { looks_ = empty_ = 0; }
  /// Before the look behind one that found something, and as long as it is true before the next.
  bool wait() noexcept { return looks_ >= counted && keep_apart(); }

 private:
  [[gnu::noinline]] void follow(std::size_t messages) noexcept {
    empty_ = 0;
    looks_ = std::min(looks_, looks_of_long_stream);
    keeps_up_ = messages < (is_long() ? many_of_long_stream : many);
    if (looks_ >= looks_of_stream) last_ns_ = Now();
  }
  [[gnu::noinline]] bool keep_apart() noexcept {
    if (++empty_ > 2) {
      end();
      return false;
    }
    if (looks_ >= looks_of_stream && keeps_up_) {
      const std::uint64_t apart = is_long() ? apart_in_long_stream_ns : apart_ns;
      while (Now() - last_ns_ < apart) sync::relax();
    }
    return true;
  }
  [[nodiscard]] bool is_long() const noexcept { return looks_ == looks_of_long_stream; }

  int looks_ = 0;  // that found something, in a row; at most looks_of_long_stream
  int empty_ = 0;  // looks that were begun since the last of these
  bool keeps_up_ = false;
  std::uint64_t last_ns_ = 0;  // when the last of these ended, in a stream
};

}  // namespace heddle::transport::shm
