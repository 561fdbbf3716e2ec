// SPDX-License-Identifier: BSD-3-Clause
// device.cpp - opening, peers, lanes, and the end of a device.
#include "backends/shm/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>

#include "backends/shm/endpoint.h"
#include "backends/shm/ring_file.h"
#include "backends/shm/settings.h"
#include "backends/shm/shm.h"
#include "base/log.h"

namespace heddle::transport {

const factory& shm_factory() noexcept {
  static const factory made{"shm", shm::own_settings, &open_one<shm::shm_device>};
  return made;
}

}  // namespace heddle::transport

namespace heddle::transport::shm {

namespace {

/// Larger messages gain nothing; smaller rings still hold eight.
constexpr std::size_t largest_record = 8192;

std::size_t checked_ring_bytes(const settings& config) {
  const std::size_t bytes = number_of(ring_size, config);
  if (!std::has_single_bit(bytes) || bytes < min_ring_bytes || bytes > max_ring_bytes) {
    throw error(fmt::format("HEDDLE_SHM_RING_BYTES={}: give a power of two from {} to {}", bytes,
                            min_ring_bytes, max_ring_bytes));
  }
  return bytes;
}

}  // namespace

shm_device::shm_device(const context& where)
    : self_(where.self),
      mine_(own_credentials()),
      ring_bytes_(checked_ring_bytes(*where.config)),
      patience_ns_(where.config->peer_timeout_ms * 1'000'000),
      own_(where.self),
      peers_(memory().can_fence == 1, static_cast<std::size_t>(where.on_host)),
      made_(max_lanes),
      asked_for_(max_lanes) {
  traits_.max_message = std::min(largest_record, ring_bytes_ / 8) - sizeof(std::uint64_t);
  traits_.native = only(op_kind::send) | only(op_kind::put) | only(op_kind::get);
  traits_.copies_in_post = true;
  traits_.leaves_host = false;
  traits_.maps_files = true;
  traits_.put_after_put = true;
  traits_.lanes = max_lanes;
  peer_process me(own_.where(), memory().can_fence == 1);  // /proc can be used
  if (text_of(native_copies, *where.config) == "off")
    traits_.native = only(op_kind::send);
  else if (!me.allows_copies())
    refuse_native_copies("this process");
}

void shm_device::refuse_native_copies(std::string_view of) {
  traits_.native = only(op_kind::send);
  log::info(log::subsystem::memory,
            "shm: the kernel does not let memory of {} be read by others (ptrace_scope, a "
            "container's seccomp, or HEDDLE_SHM_CMA): large transfers go through rings, which is "
            "slower",
            of);
}

/// Sleeping peers learn that we hang up; awake ones see it by themselves.
shm_device::~shm_device() {
  memory().closed.set(1);
  const std::scoped_lock lock(mutex_);
  open_announcers();
  peers_.wake_all();
}

/// Peers whose rings nobody has looked at may sleep as well.
void shm_device::open_announcers() noexcept {
  const bool any = memory().unserved.is_set();
  for (std::size_t lane = 0; lane < max_lanes; ++lane) {
    if (!asked_for_[lane] && !any) continue;
    std::uint64_t entry = 0;
    for (std::size_t i = 0; (entry = memory().lanes[lane].rings.at(i)) != 0; ++i) {
      try {
        (void)peers_.find(unpacked(entry).from);
      } catch (const std::exception&) {
        continue;  // it finds out by itself, when it looks for ends
      }
    }
  }
}

std::string shm_device::add_peer(rank number, std::span<const std::byte> address, bool same_host) {
  if (!same_host) return "it is on another host";
  try {
    const address_blob said = read_address(number, address, mine_);
    const peer_address where{number, said.pid, said.segment_fd, said.secret};
    const std::scoped_lock lock(mutex_);
    const auto opened = peers_.open_first_of(said.owner, where);
    const bool copies = traits_.native != only(op_kind::send);
    if (opened != nullptr && copies && !opened->allows_copies() && !opened->is_gone())
      refuse_native_copies(fmt::format("rank {}", number));
    peers_.add(said.owner, where, opened);
    return {};
  } catch (const std::exception& why) {
    return why.what();
  }
}

std::shared_ptr<peer_process> shm_device::find_peer(rank number) {
  const std::scoped_lock lock(mutex_);
  return peers_.find(number);
}

std::shared_ptr<void> shm_device::import(rank number, memory::region_ref region,
                                         detail::remote_target& out) {
  const std::shared_ptr<peer_process> peer = find_peer(number);
  if (peer == nullptr) return nullptr;
  if (peer->is_gone())
    throw error(
        fmt::format("rank {} has ended, its regions too: {}", number, peer->describe_end()));
  const std::scoped_lock lock(mutex_);
  return imports_.import(peer, region, out);
}

void shm_device::mark_lost(rank number) noexcept {
  const std::scoped_lock lock(mutex_);
  imports_.mark_lost(number);
}

std::unique_ptr<endpoint> shm_device::make_endpoint(int lane) {
  if (lane < 0 || lane >= max_lanes) {
    throw error(fmt::format("lane {}: shm has lanes 0 to {}", lane, max_lanes - 1));
  }
  return std::make_unique<shm_endpoint>(*this, lane);
}

void shm_device::add_lane(int lane, lane_sleep& sleep) {
  const std::scoped_lock lock(mutex_);
  const auto index = static_cast<std::size_t>(lane);
  if (made_[index])
    throw error(fmt::format("lane {} was opened before: its number is used up", lane));
  peers_.add_sleeper(sleep);
  made_[index] = asked_for_[index] = true;
  const auto used = static_cast<std::uint32_t>(lane + 1);
  if (memory().lanes_used.get() < used) memory().lanes_used.set(used);
}

void shm_device::remove_lane(lane_sleep& sleep) noexcept {
  const std::scoped_lock lock(mutex_);
  peers_.remove_sleeper(sleep);
}

int shm_device::serve() noexcept {
  silence_bell(own_.bell());
  const std::scoped_lock lock(mutex_);
  if (!memory().unserved.take()) return -1;
  for (std::size_t lane = 0; lane < max_lanes; ++lane) {
    if (asked_for_[lane] || memory().lanes[lane].rings.at(0) == 0) continue;
    asked_for_[lane] = true;      // once; whenever it is made, it finds the announcements
    memory().unserved.set(true);  // for the lanes behind it
    return static_cast<int>(lane);
  }
  return -1;
}

}  // namespace heddle::transport::shm
