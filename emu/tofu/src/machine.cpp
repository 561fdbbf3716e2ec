// SPDX-License-Identifier: BSD-3-Clause
// machine.cpp - see machine.h.
#include "machine.h"

#include <cstddef>
#include <utility>

#include "host/join.h"
#include "host/words.h"

namespace tofu {

namespace {

unsigned nodes_of(const settings& set) noexcept {
  std::uint64_t nodes = 1;
  for (unsigned i = 0; i < 6; ++i) nodes *= set[knob::shape] >> (8 * i) & 0xff;
  return static_cast<unsigned>(nodes);
}

/// Where the gates of node 0 begin, which is what has memory from the start.
std::size_t gates_at(unsigned nodes) noexcept {
  const std::size_t end = sizeof(machine_file) + (nodes - 1) * sizeof(node_entry);
  return (end + alignof(node_gates) - 1) / alignof(node_gates) * alignof(node_gates);
}

std::size_t bytes_of(unsigned nodes) noexcept {
  return gates_at(nodes) + nodes * sizeof(node_gates);
}

std::size_t bytes_of_file(const host::machine_head& head) {
  return bytes_of(nodes_of(static_cast<const machine_file&>(head).set));
}

constexpr host::machine_kind kind{
    machine_magic, sizeof(machine_file) + sizeof(node_entry) + sizeof(node_gates), bytes_of_file};

}  // namespace

machine::machine(host::machine_image image) : image_(std::move(image)) {
  nodes_ = nodes_of(file().set);
}

std::optional<machine> machine::look() {
  auto image = host::open_machine(kind, host::path_of_job(kind, job_name()));
  if (!image) return std::nullopt;
  return machine(std::move(*image));
}

std::optional<machine> machine::join(asked_settings& asked) {
  const unsigned nodes = nodes_of(asked.now);
  const host::machine_plan plan{bytes_of(nodes), gates_at(nodes), [&](host::machine_head& head) {
                                  static_cast<machine_file&>(head).set = asked.now;
                                }};
  return host::join<machine>(kind, job_name(), plan, [&](machine& m) {
    return adopt(asked, m.file().set) && m.settle(asked);
  });
}

bool machine::settle(asked_settings& asked) {
  const auto slot = host::free_slot(file());
  if (!slot) {
    host::say("the machine \"%s\" has no room for another process", job_name().c_str());
    return false;
  }
  const std::uint64_t wanted = asked.now[knob::node];
  if (wanted != any_node && wanted >= nodes_) {
    host::say("SOFTTOFU_NODE=%lu, but the machine has %u nodes", wanted, nodes_);
    return false;
  }
  node_ = wanted == any_node ? *slot / static_cast<unsigned>(asked.now[knob::ppn]) % nodes_
                             : static_cast<unsigned>(wanted);
  const auto me = host::enter(file(), *slot, node_);
  me_ = me.value_or(host::membership{});
  return me.has_value();
}

void machine::leave() noexcept {
  const auto held = lock();
  release_all_of(me_.slot);
  host::leave(file(), me_.slot);
  clean_locked();
  if (!host::anybody(file())) host::close_machine(image_);
}

void machine::clean() {
  const auto held = lock();
  clean_locked();
}

void machine::clean_locked() {
  host::forget_dead(file(), [this](unsigned slot) { release_all_of(slot); });
}

void machine::release_all_of(unsigned slot) noexcept {
  for (tni_entry& tni : at(process(slot).node).tnis) {
    for (cq_entry& e : tni.cqs) {
      // Relaxed: only changed under the lock, which we hold.
      const std::uint64_t claim = e.claim.load(std::memory_order_relaxed);
      if ((claim & claim_used) == 0 || e.process.load(std::memory_order_relaxed) != slot) continue;
      e.claim.store(claim_generation(claim) << 32, std::memory_order_release);  // R1, see A1
    }
  }
  release_gates(*this, process(slot).node, slot);
}

node_gates* machine::gates_of(unsigned node) const noexcept {
  // A2 pairs with R2: the gates have memory.
  if (at(node).has_gates.load(std::memory_order_acquire) == 0) return nullptr;
  return reinterpret_cast<node_gates*>(image_.map.data() + gates_at(nodes_)) + node;
}

node_gates* machine::make_gates() const noexcept {
  if (node_gates* const there = gates_of(node_)) return there;
  const std::size_t begin = gates_at(nodes_) + node_ * sizeof(node_gates);
  if (const int problem = host::reserve(image_.fd.get(), begin, sizeof(node_gates)); problem != 0) {
    host::say_no_room("this node's barrier gates", sizeof(node_gates), problem);
    return nullptr;
  }
  at(node_).has_gates.store(1, std::memory_order_release);  // R2 pairs with A2
  return gates_of(node_);
}

std::optional<unsigned> machine::claim_cq(unsigned tni, unsigned cmp, int fd) {
  const auto held = lock();
  clean_locked();
  const auto cqs = static_cast<unsigned>(file().set[knob::cqs]);
  for (unsigned cq = 0; cq < cqs; ++cq) {
    cq_entry& e = entry(node_, tni, cq);
    const std::uint64_t claim = e.claim.load(std::memory_order_relaxed);  // relaxed: as above
    if ((claim & claim_used) != 0) continue;
    e.process.store(me_.slot, std::memory_order_relaxed);  // relaxed, both: published by R1
    e.fd.store(fd, std::memory_order_relaxed);
    const std::uint64_t next = (claim_generation(claim) + 1) << 32 | claim_used | 1u << cmp;
    e.claim.store(next, std::memory_order_release);  // R1 pairs with A1 in resolve()
    return cq;
  }
  return std::nullopt;
}

void machine::set_cmp_ids(unsigned tni, unsigned cq, unsigned cmp_mask) {
  const auto held = lock();
  cq_entry& e = entry(node_, tni, cq);
  const std::uint64_t claim = e.claim.load(std::memory_order_relaxed);  // relaxed: as above
  const std::uint64_t users = cmp_mask == 0 ? 0 : claim_used | cmp_mask;
  e.claim.store(claim_generation(claim) << 32 | users, std::memory_order_release);  // R1
}

coordinates machine::lengths() const noexcept {
  coordinates lengths{};
  for (unsigned i = 0; i < 6; ++i) {
    lengths[i] = static_cast<std::uint8_t>(file().set[knob::shape] >> (8 * i));
  }
  return lengths;
}

coordinates machine::coordinates_of(unsigned node) const noexcept {
  const coordinates length = lengths();
  coordinates at{};
  for (unsigned i = 6; i-- > 0;) {  // c runs fastest: neighbours in a unit come first
    at[i] = static_cast<std::uint8_t>(node % length[i]);
    node /= length[i];
  }
  return at;
}

std::optional<unsigned> machine::node_at(const coordinates& at) const noexcept {
  const coordinates length = lengths();
  unsigned node = 0;
  for (unsigned i = 0; i < 6; ++i) {
    if (at[i] >= length[i]) return std::nullopt;
    node = node * length[i] + at[i];
  }
  return node;
}

bool machine::has_path(const std::uint8_t* abc) const noexcept {
  const coordinates length = lengths();
  return abc[0] < length[3] && abc[1] < length[4] && abc[2] < length[5];
}

}  // namespace tofu
