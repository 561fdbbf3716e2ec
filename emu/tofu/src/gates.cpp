// SPDX-License-Identifier: BSD-3-Clause
// gates.cpp - see gates.h.
#include "gates.h"

#include <utofu.h>

#include <vector>

#include "host/shared_lock.h"
#include "host/words.h"
#include "machine.h"

namespace tofu {

namespace {

constexpr std::uint64_t none = gate_setting::no_gate;

/// A signal under way.
struct delivery {
  std::uint64_t from = none, to = none;
  signal what;
};

/// Relaxed: changes only under the machine's lock, and everything else under the gate's own.
std::uint32_t owner_of(const gate_entry& g) noexcept {
  return g.owner.load(std::memory_order_relaxed);
}

gate_entry* gate_of(const machine& m, std::uint64_t id) noexcept {
  if (!looks_like_gate(id)) return nullptr;
  const place p = place_of_gate(id);
  const auto node = m.node_at(p.at);
  node_gates* const there = node ? m.gates_of(*node) : nullptr;
  return there != nullptr ? &there->gates[p.tni][p.number] : nullptr;
}

/// Whether there is such a place, if perhaps no gate in use.
bool is_on_machine(const machine& m, std::uint64_t id) noexcept {
  return looks_like_gate(id) && m.node_at(place_of_gate(id).at).has_value();
}

/// A gate of this process, else nullptr.
gate_entry* own_gate(const machine& m, std::uint64_t id) noexcept {
  gate_entry* const g = gate_of(m, id);
  return g != nullptr && owner_of(*g) == m.slot() + 1 ? g : nullptr;
}

bool is_start(std::uint64_t id) noexcept {
  return place_of_gate(id).number < start_gates;
}

std::uint64_t combine(unsigned op, std::uint64_t a, std::uint64_t b) noexcept {
  switch (op) {
    case UTOFU_REDUCE_OP_BAND:
      return a & b;
    case UTOFU_REDUCE_OP_BOR:
      return a | b;
    case UTOFU_REDUCE_OP_BXOR:
      return a ^ b;
    case UTOFU_REDUCE_OP_MAX:
      return a > b ? a : b;
    default:
      return a + b;
  }
}

/// {value, location} pairs: the larger value; of equal ones the smaller location.
void combine_locations(signal& into, const signal& from) noexcept {
  for (std::size_t i = 0; i + 1 < into.count; i += 2) {
    const bool better = from.words[i] > into.words[i] ||
                        (from.words[i] == into.words[i] && from.words[i + 1] < into.words[i + 1]);
    if (!better) continue;
    into.words[i] = from.words[i];
    into.words[i + 1] = from.words[i + 1];
  }
}

void combine(signal& into, const signal& from) noexcept {
  if (into.error == 0) into.error = from.error;
  if (into.error != 0) return;
  if (into.op != from.op || into.count != from.count) {
    into.error = UTOFU_ERR_BARRIER_MISMATCH;
  } else if (into.op == UTOFU_REDUCE_OP_BFPSUM) {
    for (std::size_t i = 0; i < into.count; ++i) into.sums[i].add(from.sums[i]);
  } else if (into.op == UTOFU_REDUCE_OP_MAXLOC) {
    combine_locations(into, from);
  } else {
    for (std::size_t i = 0; i < into.count; ++i) {
      into.words[i] = combine(into.op, into.words[i], from.words[i]);
    }
  }
}

/// Under the gate's lock: whether every source has signalled.
bool is_complete(const gate_entry& g) noexcept {
  for (std::size_t side = 0; side < 2; ++side) {
    if (g.setting.sources[side] != none && g.inboxes[side].count == 0) return false;
  }
  return true;
}

/// Under the gate's lock, when complete: what its sources sent, combined.
signal take(gate_entry& g) noexcept {
  signal all;
  bool any = false;
  for (std::size_t side = 0; side < 2; ++side) {
    gate_inbox& box = g.inboxes[side];
    if (g.setting.sources[side] == none) continue;
    const signal& one = box.signals[box.first];
    if (any) combine(all, one);
    if (!any) all = one;
    any = true;
    box.first ^= 1;
    --box.count;
  }
  return all;
}

/// Under the gate's lock. False: nobody expects such a signal here.
bool put_in_inbox(gate_entry& g, const delivery& d) noexcept {
  if (owner_of(g) == 0 || g.is_set == 0) return false;
  // The remote side first: a gate may be connected to another one of its own process by either.
  const std::size_t side = g.setting.sources[1] == d.from ? 1 : 0;
  gate_inbox& box = g.inboxes[side];
  if (g.setting.sources[side] != d.from || box.count == box.signals.size()) return false;
  box.signals[(box.first + box.count++) % box.signals.size()] = d.what;
  return true;
}

void send_on(const gate_entry& g, std::uint64_t id, const signal& what,
             std::vector<delivery>& under_way) {
  for (const std::uint64_t to : g.setting.destinations) {
    if (to != none) under_way.push_back({id, to, what});
  }
}

/// Under the gate's lock: what has come in for a start gate is its operation's result.
void finish_if_complete(gate_entry& g) noexcept {
  if (g.started == 0 || g.finished != 0 || !is_complete(g)) return;
  const std::uint8_t op = g.started;
  g.result = take(g);
  if (g.result.error == 0 && g.result.op != op) g.result.error = UTOFU_ERR_BARRIER_MISMATCH;
  g.finished = 1;
}

void refuse(const delivery& d) noexcept {
  host::say("barrier gate %#lx got a signal that it is not set up for", d.to);
}

void deliver(const machine& m, const delivery& d, std::vector<delivery>& under_way) {
  gate_entry* const g = gate_of(m, d.to);
  if (g == nullptr) return refuse(d);
  const host::shared_lock_guard held(m.file(), m.stamp(), g->holder);
  if (!put_in_inbox(*g, d)) return refuse(d);
  if (is_start(d.to)) {
    finish_if_complete(*g);
  } else if (is_complete(*g)) {
    send_on(*g, d.to, take(*g), under_way);
  }
}

void carry_on(const machine& m, std::vector<delivery>& under_way) {
  while (!under_way.empty()) {
    const delivery next = under_way.back();
    under_way.pop_back();
    deliver(m, next, under_way);
  }
}

void give_to(gate_entry& g, std::uint32_t owner) noexcept {
  g.owner.store(owner, std::memory_order_relaxed);  // relaxed: see owner_of()
  g.is_set = 0;
  g.started = 0;
  g.finished = 0;
  for (gate_inbox& box : g.inboxes) box.first = box.count = 0;
}

}  // namespace

int allocate_gates(const machine& m, unsigned tni, std::size_t count, std::uint64_t* ids) {
  const auto held = m.lock();
  node_gates* const mine = m.make_gates();
  if (mine == nullptr) return UTOFU_ERR_OUT_OF_MEMORY;
  gate_entry* const all = mine->gates[tni];
  std::vector<unsigned> found;
  for (unsigned number = 0; number < gates_per_tni && found.size() < count; ++number) {
    if (!found.empty() && number < start_gates) continue;  // one start gate is enough
    if (found.empty() && number >= start_gates) break;
    if (owner_of(all[number]) == 0) found.push_back(number);
  }
  if (found.size() < count) return UTOFU_ERR_FULL;
  for (std::size_t i = 0; i < count; ++i) {
    const host::shared_lock_guard gate_held(m.file(), m.stamp(), all[found[i]].holder);
    give_to(all[found[i]], m.slot() + 1);
    ids[i] = gate_id_of({m.coordinates_of(m.node()), tni, found[i], 0});
  }
  return UTOFU_SUCCESS;
}

int free_gates(const machine& m, const std::uint64_t* ids, std::size_t count) {
  const auto held = m.lock();
  for (std::size_t i = 0; i < count; ++i) {
    if (own_gate(m, ids[i]) == nullptr) return UTOFU_ERR_INVALID_VBG_ID;
  }
  for (std::size_t i = 0; i < count; ++i) {
    gate_entry& g = *own_gate(m, ids[i]);
    const host::shared_lock_guard gate_held(m.file(), m.stamp(), g.holder);
    give_to(g, 0);
  }
  return UTOFU_SUCCESS;
}

int set_gate(const machine& m, std::uint64_t id, const gate_setting& setting) {
  gate_entry* const g = own_gate(m, id);
  if (g == nullptr) return UTOFU_ERR_INVALID_VBG_ID;
  for (const auto& ends : {setting.sources, setting.destinations}) {
    if (ends[0] != none && own_gate(m, ends[0]) == nullptr) return UTOFU_ERR_INVALID_VBG_ID;
    if (ends[1] != none && !is_on_machine(m, ends[1])) return UTOFU_ERR_INVALID_VBG_ID;
  }
  const host::shared_lock_guard held(m.file(), m.stamp(), g->holder);
  if (g->started != 0) return UTOFU_ERR_BUSY;
  g->setting = setting;
  g->is_set = 1;
  for (gate_inbox& box : g->inboxes) box.first = box.count = 0;
  return UTOFU_SUCCESS;
}

int start_gate(const machine& m, std::uint64_t id, const signal& first) {
  gate_entry* const g = own_gate(m, id);
  if (g == nullptr || !is_start(id) || g->is_set == 0) return UTOFU_ERR_INVALID_VBG_ID;
  std::vector<delivery> under_way;
  {
    const host::shared_lock_guard held(m.file(), m.stamp(), g->holder);
    if (g->started != 0) return UTOFU_ERR_BUSY;
    g->started = first.op;
    g->finished = 0;
    const auto& sources = g->setting.sources;
    if (sources[0] == none && sources[1] == none) {  // it only sends
      g->result = first;
      g->finished = 1;
    }
    finish_if_complete(*g);  // others were here before
    send_on(*g, id, first, under_way);
  }
  carry_on(m, under_way);
  return UTOFU_SUCCESS;
}

int poll_gate(const machine& m, std::uint64_t id, unsigned op, signal& result) {
  gate_entry* const g = own_gate(m, id);
  if (g == nullptr || !is_start(id)) return UTOFU_ERR_INVALID_VBG_ID;
  const host::shared_lock_guard held(m.file(), m.stamp(), g->holder);
  const bool barrier = g->started == UTOFU_REDUCE_OP_BARRIER;
  const bool doubles = g->started == UTOFU_REDUCE_OP_BFPSUM;
  const bool as_asked =
      barrier == (op == UTOFU_REDUCE_OP_BARRIER) && doubles == (op == UTOFU_REDUCE_OP_BFPSUM);
  if (g->started == 0 || !as_asked) return UTOFU_ERR_NOT_PROCESSED;
  if (g->finished == 0) return UTOFU_ERR_NOT_COMPLETED;
  g->started = 0;
  result = g->result;
  return result.error;
}

void release_gates(const machine& m, unsigned node, unsigned slot) noexcept {
  node_gates* const there = m.gates_of(node);
  if (there == nullptr) return;
  for (auto& tni : there->gates) {
    for (gate_entry& g : tni) {
      if (owner_of(g) == slot + 1) g.owner.store(0, std::memory_order_relaxed);  // as above
    }
  }
}

}  // namespace tofu
