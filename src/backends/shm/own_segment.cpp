// SPDX-License-Identifier: BSD-3-Clause
// own_segment.cpp - making a segment, and telling peers of regions by it.
#include "backends/shm/own_segment.h"

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "sync/asymmetric.h"

namespace heddle::transport::shm {

namespace {

/// A peer is inside a region for one piece of a copy. One that takes longer has died or was stopped
/// there.
constexpr auto longest_stay = std::chrono::seconds(1);

}  // namespace

own_segment::own_segment(rank self)
    : file_(make_sealed_memory("heddle-segment", sizeof(segment))),
      mapping_(file_.get(), sizeof(segment), "our segment"),
      bell_(make_bell()),
      life_line_(make_bell().write) {
  segment& mine = memory();
  mine.magic = segment_magic;
  mine.bytes = sizeof(segment);
  mine.rank = self;
  mine.can_fence = sync::enable_asymmetric() ? 1 : 0;
  fill_random(mine.secret);
  mine.start_time = start_time_of(getpid());
  mine.at = reinterpret_cast<std::uint64_t>(mapping_.data());
  mine.life_line = life_line_.get();
  mine.bell.set(bell_.write.get());
}

peer_address own_segment::where() const noexcept {
  return {memory().rank, getpid(), file_.get(), memory().secret};
}

std::vector<std::byte> own_segment::address(const credentials& mine) const {
  address_blob blob;
  blob.rank = memory().rank;
  blob.pid = getpid();
  blob.segment_fd = file_.get();
  blob.owner = mine;
  blob.secret = memory().secret;
  std::vector<std::byte> bytes(sizeof blob);
  std::memcpy(bytes.data(), &blob, sizeof blob);
  return bytes;
}

void own_segment::expose(const memory::local_region& region) noexcept {
  if (region.ref.slot >= memory::region_table::slots || region.ref.generation == 0) return;
  memory().regions[region.ref.slot].publish(
      region.ref.generation, {reinterpret_cast<std::uint64_t>(region.memory.data()),
                              region.memory.size(), region.allowed, region.on.memfd});
}

void own_segment::withdraw(const memory::local_region& region) noexcept {
  if (region.ref.slot >= memory::region_table::slots) return;
  sync::shared_region& slot = memory().regions[region.ref.slot];
  slot.close();
  if (!slot.only_read()) {
    const auto give_up = std::chrono::steady_clock::now() + longest_stay;
    while (!slot.quiet() && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  }
  slot.clear();
}

}  // namespace heddle::transport::shm
