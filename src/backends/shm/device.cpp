// SPDX-License-Identifier: BSD-3-Clause
// device.cpp - opening, peers, lanes, and the end of a device. Regions: device_regions.cpp.
#include "backends/shm/device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/shm/endpoint.h"
#include "backends/shm/ring_file.h"
#include "backends/shm/settings.h"
#include "backends/shm/shm.h"
#include "base/log.h"
#include "sync/asymmetric.h"

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
      file_(make_sealed_memory("heddle-segment", sizeof(segment))),
      mapping_(file_.get(), sizeof(segment), "our segment"),
      bell_(make_bell()),
      life_line_(make_bell().write),
      nowhere_(std::make_shared<mapping>(mapping::of_zeros(sizeof(segment)))),
      endpoints_(max_lanes),
      made_(max_lanes),
      asked_for_(max_lanes) {
  set_up_segment();
  traits_.max_message = std::min(largest_record, ring_bytes_ / 8) - sizeof(std::uint64_t);
  traits_.native = only(op_kind::send) | only(op_kind::put) | only(op_kind::get);
  traits_.copies_in_post = true;
  traits_.leaves_host = false;
  traits_.put_after_put = true;
  traits_.lanes = max_lanes;
  addresses_.reserve(static_cast<std::size_t>(where.on_host));
  const peer_process me({self_, getpid(), file_.get(), secret()},
                        can_fence());  // /proc can be used
  const bool wanted = text_of(native_copies, *where.config) != "off";
  if (wanted && me.allows_copies()) return;
  refuse_native_copies();
  if (wanted) tell_of_no_copies("this process");
}

void shm_device::tell_of_no_copies(std::string_view whose) {
  log::info(log::subsystem::memory,
            "shm: the kernel does not let memory of {} be read by others (ptrace_scope, a "
            "container's seccomp, or HEDDLE_SHM_CMA): large transfers go through rings, which is "
            "slower",
            whose);
}

void shm_device::set_up_segment() {
  segment& mine = memory();
  mine.magic = segment_magic;
  mine.bytes = sizeof(segment);
  mine.rank = self_;
  mine.can_fence = sync::enable_asymmetric() ? 1 : 0;
  fill_random(mine.secret);
  mine.start_time = start_time_of(getpid());
  mine.at = reinterpret_cast<std::uint64_t>(mapping_.data());
  mine.life_line = life_line_.get();
  mine.bell.set(bell_.write.get());
}

void shm_device::refuse_native_copies() noexcept {
  traits_.native = only(op_kind::send);
}

shm_device::~shm_device() {
  memory().closed.set(1);
  wake_everybody();
}

/// Sleeping peers learn that we hang up; awake ones see it by themselves.
void shm_device::wake_everybody() noexcept {
  const std::scoped_lock lock(mutex_);
  open_announcers();
  sync::heavy_barrier();
  for (auto& [number, peer] : peers_) {
    const int lanes =
        static_cast<int>(std::min<std::uint32_t>(max_lanes, peer->memory().lanes_used.get()));
    for (int lane = 0; lane < lanes && !peer->known_gone(); ++lane) link(peer, lane).wake();
  }
}

/// Peers whose rings nobody has looked at may sleep as well.
void shm_device::open_announcers() noexcept {
  const bool any = memory().unserved.is_set();
  for (std::size_t lane = 0; lane < max_lanes; ++lane) {
    if (!asked_for_[lane] && !any) continue;
    std::uint64_t entry = 0;
    for (std::size_t i = 0; (entry = memory().lanes[lane].rings.at(i)) != 0; ++i) {
      const peer_address* const where = address_of(unpacked(entry).from);
      if (where == nullptr || peers_.contains(where->number)) continue;
      try {
        (void)open_peer(*where);
      } catch (const std::exception&) {
        continue;  // it finds out by itself, when it looks for ends
      }
    }
  }
}

std::vector<std::byte> shm_device::address() const {
  address_blob blob;
  blob.rank = self_;
  blob.pid = getpid();
  blob.segment_fd = file_.get();
  blob.owner = mine_;
  blob.secret = memory().secret;
  std::vector<std::byte> bytes(sizeof blob);
  std::memcpy(bytes.data(), &blob, sizeof blob);
  return bytes;
}

std::string shm_device::add_peer(rank number, std::span<const std::byte> address, bool same_host) {
  if (!same_host) return "it is on another host";
  try {
    const address_blob said = read_address(number, address, mine_);
    const peer_address where{number, said.pid, said.segment_fd, said.secret};
    const std::scoped_lock lock(mutex_);
    peers_.erase(number);
    const bool believed = std::ranges::find(tried_, said.owner) != tried_.end();
    if (!believed || where.pid == getpid()) {  // what this process may do to itself proves nothing
      const auto peer = std::make_shared<peer_process>(where, can_fence());
      if (!peer->allows_copies() && traits_.native != only(op_kind::send)) {
        refuse_native_copies();
        tell_of_no_copies(fmt::format("rank {}", number));
      }
      if (!believed && where.pid != getpid()) tried_.push_back(said.owner);
      announce(peer);
    }
    remember(where);
    for (shm_endpoint* lane : endpoints_) {
      if (lane != nullptr) lane->nudge();  // its ring may have been announced already
    }
    return {};
  } catch (const std::exception& why) {
    return why.what();
  }
}

const peer_address* shm_device::address_of(rank peer) const noexcept {
  const auto at = std::ranges::lower_bound(addresses_, peer, {}, &peer_address::number);
  return at != addresses_.end() && at->number == peer ? &*at : nullptr;
}

void shm_device::remember(const peer_address& where) {
  const auto at = std::ranges::lower_bound(addresses_, where.number, {}, &peer_address::number);
  if (at != addresses_.end() && at->number == where.number)
    *at = where;
  else
    addresses_.insert(at, where);
}

/// All lanes are to hear of its end.
void shm_device::announce(const std::shared_ptr<peer_process>& peer) {
  for (shm_endpoint* lane : endpoints_) {
    if (lane != nullptr) lane->meet(*peer);
  }
  peers_[peer->number()] = peer;
}

std::shared_ptr<peer_process> shm_device::open_peer(const peer_address& where) {
  try {
    auto peer = std::make_shared<peer_process>(where, can_fence());
    announce(peer);
    return peer;
  } catch (const error& why) {
    return peers_[where.number] = std::make_shared<peer_process>(where, why.what(), nowhere_);
  }
}

std::shared_ptr<peer_process> shm_device::find_peer(rank number) {
  const std::scoped_lock lock(mutex_);
  const auto found = peers_.find(number);
  if (found != peers_.end()) return found->second;
  const peer_address* const where = address_of(number);
  return where != nullptr ? open_peer(*where) : nullptr;
}

std::unique_ptr<endpoint> shm_device::make_endpoint(int lane) {
  if (lane < 0 || lane >= max_lanes) {
    throw error(fmt::format("lane {}: shm has lanes 0 to {}", lane, max_lanes - 1));
  }
  return std::make_unique<shm_endpoint>(*this, lane);
}

void shm_device::enlist(shm_endpoint& lane) {
  const std::scoped_lock lock(mutex_);
  if (made_[static_cast<std::size_t>(lane.lane())]) {
    throw error(fmt::format("lane {} was opened before: its number is used up", lane.lane()));
  }
  for (auto& [number, peer] : peers_) lane.meet(*peer);
  const auto index = static_cast<std::size_t>(lane.lane());
  endpoints_[index] = &lane;
  made_[index] = asked_for_[index] = true;
  const auto used = static_cast<std::uint32_t>(lane.lane() + 1);
  if (memory().lanes_used.get() < used) memory().lanes_used.set(used);
}

void shm_device::discharge(shm_endpoint& lane) noexcept {
  const std::scoped_lock lock(mutex_);
  endpoints_[static_cast<std::size_t>(lane.lane())] = nullptr;
}

int shm_device::serve() noexcept {
  silence_bell(bell_.read.get());
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
