// SPDX-License-Identifier: BSD-3-Clause
// device.cpp - the device, and what makes this a module of Heddle's.
#include "device.h"

#include <heddle/status.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "endpoint.h"
#include "transport/module.h"

namespace unix_backend {
namespace {

std::uint64_t draw_number() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source() | 1;
}

const heddle::transport::factory& unix_factory() {
  static const heddle::transport::factory made{"unix", own_settings,
                                               &heddle::transport::open_one<device>};
  return made;
}

}  // namespace

device::device(const heddle::transport::context& where)
    : self_(where.self), process_(draw_number()), processes_(static_cast<std::size_t>(where.size)) {
  std::ranges::copy(where.job_secret, secret_.begin());
  traits_.max_message = number_of(message_size, *where.config);
  door_.bind(name_of(process_, device_lane));
}

std::vector<std::byte> device::address() const {
  const auto bytes = std::as_bytes(std::span(&process_, 1));
  return {bytes.begin(), bytes.end()};
}

std::string device::add_peer(heddle::rank peer, std::span<const std::byte> address,
                             bool same_host) {
  if (!same_host) return "it is on another host";
  std::uint64_t process = 0;
  if (address.size() != sizeof process) return "its address makes no sense";
  std::memcpy(&process, address.data(), sizeof process);
  processes_[static_cast<std::size_t>(peer)] = process;
  return {};
}

std::unique_ptr<heddle::transport::endpoint> device::make_endpoint(int lane) {
  auto made = std::make_unique<endpoint>(*this, lane);
  const std::lock_guard lock(mutex_);
  made_.insert(lane);
  for (const auto& [who, from_lane] : waiting_[lane]) answer(who, from_lane, lane);
  waiting_.erase(lane);
  return made;
}

/// Tells the lane that has knocked that it can come in. Wakes it, if it sleeps.
void device::answer(heddle::rank who, int from_lane, int lane) {
  const head open{secret_, self_, lane, from_lane, head::kind_t::open};
  (void)door_.send_to(name_of(process_of(who), from_lane), open);  // full: it is awake in any case
}

int device::serve() noexcept {
  head h;
  while (door_.receive(std::as_writable_bytes(std::span(&h, 1))) == sizeof h) {
    if (h.secret != secret_ || !knows(h.from) || h.kind != head::kind_t::knock) continue;
    const std::lock_guard lock(mutex_);
    if (made_.contains(h.to_lane)) {
      answer(h.from, h.lane, h.to_lane);
      continue;
    }
    waiting_[h.to_lane].insert({h.from, h.lane});
    return h.to_lane;
  }
  return -1;
}

}  // namespace unix_backend

HEDDLE_BACKEND_MODULE(unix_backend::unix_factory)
