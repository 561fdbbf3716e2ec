// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/rank_memory.h"

#include <algorithm>
#include <cstring>

#include "fuzz/model.h"

namespace heddle::fuzz {
namespace {

rights rights_of(const area& a) {
  return static_cast<rights>(a.allowed);
}

/// The number in plan.steps of the first step after `phase`.
std::size_t end_of(const plan& p, int phase) {
  const auto later = std::find_if(p.steps.begin(), p.steps.end(), [&](const step& s) {
    return s.phase > phase || is_late(s.what);
  });
  return static_cast<std::size_t>(later - p.steps.begin());
}

}  // namespace

void rank_memory::make(int phase) {
  for (const area& a : plan_.areas)
    if (a.first == phase && mine(a)) make(a);
}

void rank_memory::make(const area& a) {
  part& made = here_[a.id];
  if (a.kind == area_kind::symmetric) {
    made.shared.emplace(world_.symmetric<std::byte>(a.bytes, rights_of(a)));
    return;
  }
  made.own.resize(a.kind == area_kind::exposed ? a.bytes : 0);
  made.one = a.kind == area_kind::exposed ? world_.expose(made.own, rights_of(a))
                                          : world_.allocate(a.bytes, rights_of(a));
  facts_.key_of(a.id, world_.rank()) = made.one.key();
}

void rank_memory::import(int phase) {
  for (const area& a : plan_.areas)
    if (a.first == phase && a.kind != area_kind::symmetric)
      imported_[{a.id, a.owner}] = world_.import(facts_.key_of(a.id, a.owner));
}

void rank_memory::check(int phase) const {
  for (const area& a : plan_.areas)
    if (a.first <= phase && phase <= a.last && mine(a)) check(a, phase);
}

void rank_memory::check(const area& a, int phase) const {
  area_record& found = facts_.of_area(phase, a.id, world_.rank());
  const std::span<const std::byte> memory = local(a.id);
  const auto succeeded = [&](const step& s) {
    const record& r = facts_.of(s.id, s.rank);
    return r.at == stage::ended && r.code == status::done;
  };
  const auto expected = contents(plan_, a, world_.rank(), end_of(plan_, phase), succeeded);
  const auto wrong = first_wrong(expected, memory, 0);
  found.wrong = wrong ? *wrong + 1 : 0;
  std::memcpy(found.words.data(), memory.data(), word_bytes);
  found.checked = true;
}

void rank_memory::withdraw(int phase) {
  for (const area& a : plan_.areas)
    if (a.last == phase && a.kind != area_kind::symmetric && mine(a)) here_[a.id].one.withdraw();
}

remote_address rank_memory::at(int area_id, int owner, std::uint64_t offset) const {
  if (const auto found = imported_.find({area_id, owner}); found != imported_.end())
    return found->second.at(offset);
  const auto own = here_.find(area_id);
  if (own == here_.end() || !own->second.shared) return {};
  return own->second.shared->at(owner, offset);
}

std::span<std::byte> rank_memory::local(int area_id) const {
  const auto own = here_.find(area_id);
  if (own == here_.end()) return {};
  return own->second.shared ? own->second.shared->local() : own->second.one.memory();
}

}  // namespace heddle::fuzz
