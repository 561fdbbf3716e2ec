// SPDX-License-Identifier: BSD-3-Clause
// losses.h - peers that are being lost: they may finish what they had said.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "backends/tcp/reader.h"

namespace heddle::transport::tcp {

/// Owner thread only.
class losses {
 public:
  explicit losses(const reader& from) : reader_(from), timer_(make_timer()) {}

  /// Readable when waiting may be over.
  [[nodiscard]] int fd() const noexcept { return timer_.get(); }
  /// `code`: as event::code of peer_lost. `unmet`: no connection was chosen. The peer may have
  /// chosen one that is still being proven, and said something on it, as two that connect to each
  /// other at once do: it is given some time.
  void begin(remote_lane& peer, status code, std::string why, bool unmet) {
    ending_.push_back({&peer, code, std::move(why), unmet ? now_ms() + grace_ms : 0});
    if (unmet) set_timer(timer_.get(), grace_ms);
  }
  /// The connection that `peer` was given time for has come.
  void end_grace(const remote_lane& peer) noexcept {
    for (loss& l : ending_)
      if (l.peer == &peer) l.grace_until_ms = 0;
  }
  void forget(const remote_lane& peer) noexcept {
    std::erase_if(ending_, [&](const loss& l) { return l.peer == &peer; });
  }

  [[nodiscard]] bool any() const noexcept { return !ending_.empty(); }
  /// True when nothing can be done but to wait for the timer.
  [[nodiscard]] bool only_wait() const noexcept {
    return told_ == lost_.size() && std::ranges::all_of(ending_, [&](const loss& l) {
             return reader_.has_taken_all(*l.peer) && in_grace(l);
           });
  }
  /// Those that are through: told of next, and to be closed now.
  [[nodiscard]] std::vector<remote_lane*> finish() {
    std::vector<remote_lane*> through;
    if (ending_.empty()) return through;
    bool waits = false;
    for (const loss& l : ending_) {
      if (!reader_.has_taken_all(*l.peer)) continue;
      if (in_grace(l)) {
        waits = true;
        continue;
      }
      through.push_back(l.peer);
      lost_.push_back(l);
    }
    for (const remote_lane* peer : through) forget(*peer);
    set_timer(timer_.get(), waits ? grace_ms : 0);
    return through;
  }
  void tell(event_sink& sink) noexcept {
    for (; !sink.full() && told_ != lost_.size(); ++told_) {
      const loss& l = lost_[told_];
      sink.add({event::kind_t::peer_lost, l.code, l.peer, nullptr, bytes_of(l.why)});
    }
  }

 private:
  static constexpr std::uint64_t grace_ms = 300;
  struct loss {
    remote_lane* peer;
    status code;
    std::string why;
    std::uint64_t grace_until_ms;  // 0: nothing more can come
  };
  [[nodiscard]] static bool in_grace(const loss& l) noexcept {
    return l.grace_until_ms != 0 && now_ms() < l.grace_until_ms;
  }

  const reader& reader_;
  unique_fd timer_;
  std::vector<loss> ending_;
  std::deque<loss> lost_;  // all there were: events point at their words
  std::size_t told_ = 0;   // of them
};

}  // namespace heddle::transport::tcp
