// SPDX-License-Identifier: BSD-3-Clause
// fabric.cpp - see fabric.h.
#include "fabric.h"

#include <unistd.h>

#include <utility>

#include "host/join.h"
#include "host/words.h"

namespace hca {

namespace {

constexpr unsigned index_bits = 14;
constexpr std::uint32_t index_mask = (1u << index_bits) - 1;
constexpr std::uint32_t generations = (1u << (24 - index_bits)) - 1;
static_assert(max_qps == index_mask + 1);

constexpr host::machine_kind kind{fabric_magic, sizeof(fabric_file),
                                  [](const host::machine_head&) { return sizeof(fabric_file); }};

}  // namespace

std::optional<fabric> fabric::join(asked_settings& asked, int arena_fd) {
  const host::machine_plan plan{
      sizeof(fabric_file), sizeof(fabric_file),
      [&](host::machine_head& head) { static_cast<fabric_file&>(head).set = asked.now; }};
  return host::join<fabric>(kind, job_name(), plan, [&](fabric& f) {
    return adopt(asked, f.file().set) && f.settle(asked, arena_fd);
  });
}

bool fabric::settle(asked_settings& asked, int arena_fd) {
  const auto slot = host::free_slot(file());
  if (!slot) {
    host::say("the machine \"%s\" has no room for another process", job_name().c_str());
    return false;
  }
  node_ = static_cast<unsigned>(asked.now[knob::node]);
  const auto me = host::enter(file(), *slot, node_);
  if (!me) return false;
  me_ = *me;
  // Relaxed: who looks for it got our stamp from an entry that is published later.
  file().members[me_.slot].arena_fd.store(arena_fd, std::memory_order_relaxed);
  return true;
}

void fabric::leave() noexcept {
  const auto held = lock();
  release_all_of(me_.slot);
  host::leave(file(), me_.slot);
  host::forget_dead(file(), [this](unsigned slot) { release_all_of(slot); });
  if (!host::anybody(file())) host::close_machine(image_);
}

void fabric::release_all_of(unsigned slot) noexcept {
  for (context_entry& e : file().contexts) {
    if (e.process != 0 && host::slot_of(e.process) == slot) e.process = 0;
  }
  for (qp_entry& q : file().qps) {
    // Relaxed, both: only changed under the lock, which we hold.
    if (q.number.load(std::memory_order_relaxed) == 0) continue;
    if (host::slot_of(q.process.load(std::memory_order_relaxed)) != slot) continue;
    q.number.store(0, std::memory_order_release);  // R1, see A1
  }
}

bool fabric::add_context(const place& at, const pipe_address& async) {
  const auto held = lock();
  for (context_entry& e : file().contexts) {
    if (e.process != 0) continue;
    e = {me_.stamp, getpid(), at.node, at.device, async};
    return true;
  }
  return false;
}

void fabric::remove_context(const pipe_address& async) noexcept {
  const auto held = lock();
  for (context_entry& e : file().contexts) {
    if (e.process == me_.stamp && e.async.inode == async.inode) e.process = 0;
  }
}

std::uint32_t fabric::add_qp(std::uint64_t at) {
  const auto held = lock();
  for (unsigned tried = 0; tried < max_qps; ++tried) {
    next_ = (next_ + 1) & index_mask;
    qp_entry& q = file().qps[next_];
    // Relaxed, all: only changed under the lock; published by R1.
    if (next_ < 2 || q.number.load(std::memory_order_relaxed) != 0) continue;
    const std::uint32_t use = q.uses.fetch_add(1, std::memory_order_relaxed) % generations + 1;
    q.process.store(me_.stamp, std::memory_order_relaxed);
    q.at.store(at, std::memory_order_relaxed);
    const std::uint32_t number = use << index_bits | next_;
    q.number.store(number, std::memory_order_release);  // R1 pairs with A1
    return number;
  }
  return 0;
}

void fabric::remove_qp(std::uint32_t number) noexcept {
  const auto held = lock();
  file().qps[number & index_mask].number.store(0, std::memory_order_release);  // R1
}

const qp_entry* fabric::find_qp(std::uint32_t number) const noexcept {
  const qp_entry& q = file().qps[number & index_mask];
  // A1 pairs with R1.
  return number != 0 && q.number.load(std::memory_order_acquire) == number ? &q : nullptr;
}

}  // namespace hca
