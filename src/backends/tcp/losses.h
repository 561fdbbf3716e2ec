// losses.h - peers that are being lost: they may finish what they had said.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "backends/tcp/connection.h"

namespace heddle::transport::tcp {

/// Owner thread only.
class losses {
 public:
  losses() : timer_(make_timer()) {}

  /// Readable when waiting may be over.
  [[nodiscard]] int fd() const noexcept { return timer_.get(); }
  /// `unmet`: no connection was chosen. The peer may have chosen one that is still being proven,
  /// and said something on it, as two that connect to each other at once do: it is given some time.
  void begin(rank peer, std::string why, bool unmet) {
    ending_.push_back({peer, std::move(why), unmet ? now_ms() + grace_ms : 0});
    if (unmet) set_timer(timer_.get(), grace_ms);
  }
  /// The connection that `peer` was given time for has come.
  void end_grace(rank peer) noexcept {
    for (loss& l : ending_)
      if (l.peer == peer) l.grace_until_ms = 0;
  }
  void forget(rank peer) noexcept {
    std::erase_if(ending_, [&](const loss& l) { return l.peer == peer; });
  }

  [[nodiscard]] bool any() const noexcept { return !ending_.empty(); }
  /// True when nothing can be done but to wait for the timer. `said_all(peer)`: all that had come
  /// from it was taken.
  template <class F>
  [[nodiscard]] bool only_wait(F said_all) const noexcept {
    return told_ == lost_.size() && std::ranges::all_of(ending_, [&](const loss& l) {
             return said_all(l.peer) && in_grace(l);
           });
  }
  /// Calls `close(peer)` for those that are through, which can be told of then.
  template <class F, class G>
  void finish(F said_all, G close) {
    if (ending_.empty()) return;
    std::erase_if(ending_, [&](loss& l) {
      if (!said_all(l.peer) || in_grace(l)) return false;
      close(l.peer);
      lost_.push_back(std::move(l));
      return true;
    });
    const bool waits = !ending_.empty() && std::ranges::all_of(ending_, [&](const loss& l) {
      return said_all(l.peer);
    });
    set_timer(timer_.get(), waits ? grace_ms : 0);
  }
  void tell(event_sink& sink) noexcept {
    for (; !sink.full() && told_ != lost_.size(); ++told_) {
      const loss& l = lost_[told_];
      sink.add({event::kind_t::peer_lost, status::peer_lost, l.peer, nullptr, bytes_of(l.why)});
    }
  }

 private:
  static constexpr std::uint64_t grace_ms = 300;
  struct loss {
    rank peer;
    std::string why;
    std::uint64_t grace_until_ms;  // 0: nothing more can come
  };
  [[nodiscard]] static bool in_grace(const loss& l) noexcept {
    return l.grace_until_ms != 0 && now_ms() < l.grace_until_ms;
  }

  unique_fd timer_;
  std::vector<loss> ending_;
  std::deque<loss> lost_;  // all there were: events point at their words
  std::size_t told_ = 0;   // of them
};

}  // namespace heddle::transport::tcp
