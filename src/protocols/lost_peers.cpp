// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/lost_peers.h"

#include "base/log.h"

namespace heddle::protocols {

completion lost_peers::note(int lane, rank peer, std::string why, bool missed) {
  const std::lock_guard lock(mutex_);
  const auto first = why_.lower_bound({peer, 0});
  const bool known = first != why_.end() && first->first.first == peer;
  const auto severity = missed ? log::level::warn : log::level::info;
  if ((missed || !known) && logged_.insert({peer, missed}).second)
    log::write_if(log::subsystem::peer, severity, "rank {} {}: {}", peer,
                  missed ? "is lost" : "has gone, and nothing of it was waited for", why);
  why_.emplace(std::pair(peer, lane), std::move(why));
  if (known) return {};
  untold_.push_back(peer);
  return {&lost_peers::deliver, this, 0};
}

std::string lost_peers::why(int lane, rank peer) const {
  const std::lock_guard lock(mutex_);
  auto found = why_.find({peer, lane});
  if (found == why_.end()) found = why_.lower_bound({peer, 0});
  return found != why_.end() && found->first.first == peer ? found->second : std::string();
}

void lost_peers::set_handler(loss_handler function, void* context) {
  {
    const std::lock_guard lock(mutex_);
    function_ = function;
    context_ = context;
  }
  tell_untold();
}

void lost_peers::deliver(void* owner, std::uint64_t, const outcome&) noexcept {
  static_cast<lost_peers*>(owner)->tell_untold();
}

/// The program runs without the mutex, so that it may ask why() and set another handler.
void lost_peers::tell_untold() {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (function_ == nullptr || untold_.empty()) return;
    const rank peer = untold_.front();
    untold_.erase(untold_.begin());
    const std::string why = why_.lower_bound({peer, 0})->second;
    const auto [function, context] = std::pair(function_, context_);
    lock.unlock();
    function(context, peer, why);
  }
}

}  // namespace heddle::protocols
