// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/endpoint_set.h"

#include <algorithm>
#include <utility>

#include "protocols/arrivals.h"

namespace heddle::protocols {
namespace {

/// An endpoint that had nothing this often in a row is asked more rarely ...
constexpr std::uint32_t patience = 16;
/// ... namely every so many polls: a socket costs a system call, a ring a load.
constexpr std::uint32_t rarely = 32;

}  // namespace

endpoint_set::endpoint_set(list all, arrivals& hearer)
    : all_(std::move(all)),
      only_(all_.size() == 1 ? all_.front().get() : nullptr),
      hearer_(hearer),
      empty_polls_(all_.size()) {}

/// Every endpoint is due while it has news; an idle one rarely, unless all others are idle as well
/// and there is nothing better to do than to ask them.
bool endpoint_set::due(std::size_t endpoint) const noexcept {
  if (empty_polls_[endpoint] < patience || poll_number_ % rarely == 0) return true;
  return std::ranges::all_of(empty_polls_, [](std::uint32_t n) { return n >= patience; });
}

std::size_t endpoint_set::ask_those_due() {
  ++poll_number_;
  std::size_t count = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!due(i)) continue;
    const std::size_t n = ask(*all_[i]);
    empty_polls_[i] = n == 0 ? empty_polls_[i] + 1 : 0;
    count += n;
  }
  return count;
}

void endpoint_set::hand_over(std::size_t n) {
  hearer_.take(std::span(events_).first(n));
}

bool endpoint_set::arm() noexcept {
  return arm_by(&transport::endpoint::arm);
}

bool endpoint_set::arm_loosely() noexcept {
  return arm_by(&transport::endpoint::arm_loosely);
}

bool endpoint_set::arm_by(bool (transport::endpoint::*way)() noexcept) noexcept {
  bool armed = true;
  for (const auto& e : all_) armed = (*e.*way)() && armed;
  std::ranges::fill(empty_polls_, 0);  // after a sleep every endpoint is asked
  return armed;
}

bool endpoint_set::shares_core(int core) const noexcept {
  bool shared = false;
  for (const auto& e : all_) shared |= e->shares_core(core);
  return shared;
}

bool endpoint_set::idle() const noexcept {
  return std::ranges::all_of(all_, [](const auto& e) { return e->idle(); });
}

void endpoint_set::maintain() noexcept {
  for (const auto& e : all_) e->maintain();
}

void endpoint_set::close() noexcept {
  all_.clear();
  only_ = nullptr;
}

}  // namespace heddle::protocols
