// SPDX-License-Identifier: BSD-3-Clause
// loopback_hub.cpp - hubs by job secret, and their doorbells.
#include "contract/loopback_hub.h"

#include <heddle/status.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace heddle::test {

doorbell::doorbell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw error("loopback: eventfd: no more descriptors");
}

doorbell::~doorbell() {
  ::close(fd_);
}

void doorbell::ring() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
}

void doorbell::silence() noexcept {
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto got = ::read(fd_, &rings, sizeof rings);
}

std::shared_ptr<loopback_hub> loopback_hub::of(std::span<const std::byte, 32> secret) {
  static std::mutex guard;
  static std::map<std::array<std::byte, 32>, std::weak_ptr<loopback_hub>> hubs;
  std::array<std::byte, 32> name{};
  std::copy(secret.begin(), secret.end(), name.begin());
  const std::scoped_lock lock(guard);
  std::weak_ptr<loopback_hub>& slot = hubs[name];
  std::shared_ptr<loopback_hub> hub = slot.lock();
  if (hub == nullptr) slot = hub = std::make_shared<loopback_hub>();
  return hub;
}

int loopback_hub::lane_in_want(rank r) const {
  for (const auto& [where, box] : mailboxes_)
    if (where.first == r && !box.has_endpoint && (box.is_awaited || !box.messages.empty()))
      return where.second;
  return -1;
}

void loopback_hub::bury(rank r) {
  members_[r].dead = true;
  members_[r].regions = nullptr;
  for (auto& [where, box] : mailboxes_) box.bell.ring();
}

}  // namespace heddle::test
