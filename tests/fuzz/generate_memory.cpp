// SPDX-License-Identifier: BSD-3-Clause
// generate_memory.cpp - actions on remote memory.

#include "fuzz/generate_actions.h"

namespace heddle::fuzz {
namespace {

/// Where an access may go; false: nowhere in this phase.
bool place(draws& in, step& s, int right) {
  std::vector<const area*> usable;
  for (const area& a : in.p.areas)
    if (a.first <= in.phase && in.phase <= a.last && (a.allowed & right) != 0) usable.push_back(&a);
  if (usable.empty()) return false;
  const area& a = *in.d.one_of(usable);
  s.area = a.id;
  if (a.owner != all_ranks) s.peer = a.owner;
  const std::uint64_t room = a.bytes - word_bytes;
  s.bytes = in.d.size(room);
  s.at = word_bytes + in.d.any() % (room - s.bytes + 1);
  return true;
}

/// Another step by the same thread at the same place.
step next(draws& in, const step& after, verb v) {
  step s = after;
  s.id = in.next_id++;
  s.what = v;
  s.ends = orders(v) ? ending::flag : in.any_ending();
  if (orders(v)) s.area = 0, s.at = 0, s.bytes = 0;
  return s;
}

}  // namespace

action puts(draws& in) {
  step s = in.blank(verb::put);
  if (!place(in, s, 2)) return {};
  s.ends = in.any_ending();
  action all{s};
  if (in.d.percent(40)) {
    all.push_back(next(in, s, in.d.percent(50) ? verb::fence : verb::flush));
    all.push_back(next(in, s, verb::put));
  }
  if (in.d.percent(40) && (in.p.find_area(s.area)->allowed & 1) != 0) {
    all.push_back(next(in, s, in.d.percent(50) ? verb::fence : verb::flush));
    all.push_back(next(in, s, verb::get));
  }
  return all;
}

action get(draws& in) {
  step s = in.blank(verb::get);
  if (!place(in, s, 1)) return {};
  s.ends = in.any_ending();
  return {s};
}

action notify(draws& in) {
  step s = in.blank(verb::put_notify);
  if (!place(in, s, 2)) return {};
  s.ends = in.d.one_of({ending::flag, ending::counter, ending::queue, ending::coroutine});
  return {s};
}

action words(draws& in) {
  action all;
  step first = in.blank(verb::atomic);
  if (!place(in, first, 4)) return {};
  first.width = in.d.one_of({4, 8});
  const int step_bytes = first.width;
  first.at = static_cast<std::uint64_t>(in.d.below(static_cast<int>(word_bytes) / step_bytes) *
                                        step_bytes);
  const int count = in.d.between(1, 6);
  for (int i = 0; i < count; ++i) {
    step s = in.blank(verb::atomic);
    s.area = first.area, s.peer = first.peer, s.at = first.at, s.width = first.width;
    s.op = in.d.below(8);
    s.operand = in.d.percent(50) ? in.d.any() : in.d.any() % 4;
    s.compare = in.d.any() % 4;
    if (s.width == 4) s.operand &= 0xffffffff;
    s.ends = in.any_ending();
    all.push_back(s);
  }
  return all;
}

}  // namespace heddle::fuzz
