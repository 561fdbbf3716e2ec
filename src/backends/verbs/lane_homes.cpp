// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/lane_homes.h"

#include <algorithm>
#include <utility>

namespace heddle::transport::verbs {
namespace {

constexpr std::size_t most_early = 1024;

}  // namespace

bool lane_homes::was_made(int lane) const noexcept {
  const auto found = places_.find(lane);
  return found != places_.end() && found->second.was_made;
}

std::shared_ptr<lane_home> lane_homes::find(int lane) const noexcept {
  const auto found = places_.find(lane);
  return found != places_.end() ? found->second.home.lock() : nullptr;
}

std::size_t lane_homes::without_doorbell() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(places_, [](const auto& one) {
    const auto home = one.second.home.lock();
    return home != nullptr && !home->queues.has_doorbell();
  }));
}

void lane_homes::keep_early(const hello& ask) {
  const auto same = [&](const hello& h) {
    return h.from == ask.from && h.question == ask.question;
  };
  if (early_.size() < most_early && std::ranges::none_of(early_, same)) early_.push_back(ask);
}

std::vector<hello> lane_homes::take_early() noexcept {
  return std::exchange(early_, {});
}

int lane_homes::name_wanted() noexcept {
  for (const hello& ask : early_)
    if (places_.try_emplace(ask.to_lane).second) return ask.to_lane;
  return -1;
}

}  // namespace heddle::transport::verbs
