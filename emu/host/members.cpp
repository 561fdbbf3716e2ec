// SPDX-License-Identifier: BSD-3-Clause
// members.cpp - see members.h.
#include "host/members.h"

#include <unistd.h>

#include "host/os.h"
#include "host/words.h"

namespace host {

bool is_alive(const machine_head& head, process_stamp who) noexcept {
  const unsigned slot = slot_of(who);
  if (slot >= max_processes) return false;
  const process_entry& p = head.processes[slot];
  // Relaxed, both: nothing is published by dying.
  if (stamp_of(slot, p.generation.load(std::memory_order_relaxed)) != who) return false;
  const std::uint32_t life = p.life.load(std::memory_order_relaxed);
  return life != 0 && (life & life_ended) == 0;
}

std::optional<unsigned> free_slot(const machine_head& head) noexcept {
  for (unsigned slot = 0; slot < max_processes; ++slot) {
    if (head.processes[slot].start_time == 0) return slot;
  }
  return std::nullopt;
}

std::optional<membership> enter(machine_head& head, unsigned slot, std::uint32_t node) {
  process_entry& mine = head.processes[slot];
  mine.pid = getpid();
  mine.node = node;
  mine.start_time = start_time_of(mine.pid);
  // Relaxed: those who meet our stamp got it from memory we published later.
  const std::uint32_t generation = mine.generation.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint32_t life = begin_life(mine.life);
  if (life != 0 && mine.start_time != 0) return membership{slot, stamp_of(slot, generation), life};
  mine.start_time = 0;
  say("cannot watch over this process: no thread, or no /proc");
  return std::nullopt;
}

void leave(machine_head& head, unsigned slot) noexcept {
  end_life(head.processes[slot].life);
  head.processes[slot].start_time = 0;
}

bool anybody(const machine_head& head) noexcept {
  for (const process_entry& p : head.processes) {
    if (p.start_time != 0) return true;
  }
  return false;
}

bool is_abandoned(const machine_head& head) noexcept {
  // Only the words count that the kernel marks: process numbers may be those of another namespace.
  for (const process_entry& p : head.processes) {
    const std::uint32_t life = p.life.load(std::memory_order_relaxed);  // relaxed: see lives()
    if (p.start_time != 0 && life != 0 && (life & life_ended) == 0) return false;
  }
  // Relaxed: only changed under the lock.
  return head.closed.load(std::memory_order_relaxed) == 0;
}

bool has_died(const process_entry& process) noexcept {
  if (process.start_time == 0) return false;
  // A process that died before its life began has a word that says nothing; and after exec the
  // word says that the program before it is gone, which is right.
  const std::uint32_t life = process.life.load(std::memory_order_relaxed);  // relaxed: see lives()
  return (life & life_ended) != 0 || start_time_of(process.pid) != process.start_time;
}

}  // namespace host
