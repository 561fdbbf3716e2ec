// SPDX-License-Identifier: BSD-3-Clause
// peers.cpp - see peers.h.
#include "peers.h"

#include "host/words.h"

namespace hca {

std::shared_ptr<const peer> peer_table::find(host::process_stamp who) {
  const unsigned slot = host::slot_of(who);
  if (slot >= host::max_processes || !fabric_.is_alive(who)) return nullptr;
  const std::lock_guard held(mutex_);
  auto& known = known_[slot];
  if (!known || known->stamp != who) known = open(who);
  return known;
}

std::shared_ptr<const peer> peer_table::open(host::process_stamp who) {
  const unsigned slot = host::slot_of(who);
  auto one = std::make_shared<peer>();
  one->stamp = who;
  one->pid = fabric_.file().processes[slot].pid;
  one->is_self = who == fabric_.stamp();
  if (one->is_self) {
    one->arena = own_;
    return one;
  }
  // Relaxed: published with what led us here.
  const int fd = fabric_.file().members[slot].arena_fd.load(std::memory_order_relaxed);
  const host::owned_fd file = host::open_of_process(one->pid, fd, true);
  if (file && host::is_sealed_memory(file.get(), arena_bytes))
    one->map = host::mapping(file.get(), arena_bytes);
  if (!one->map) {
    if (fabric_.is_alive(who))
      host::say(
          "cannot look into process %d: does this container lack the permission to trace "
          "processes (docker run --cap-add SYS_PTRACE)?",
          static_cast<int>(one->pid));
    return nullptr;
  }
  one->arena = one->map.data();
  return one;
}

}  // namespace hca
