// SPDX-License-Identifier: BSD-3-Clause
// generate_phase.cpp - puts the actions of a phase together; and what comes after the last one.
#include <algorithm>
#include <utility>

#include "fuzz/generate_actions.h"
#include "fuzz/model.h"

namespace heddle::fuzz {

step draws::blank(verb v) {
  step s;
  s.id = next_id++;
  s.phase = phase;
  s.what = v;
  s.rank = d.below(p.ranks);
  s.thread = d.below(p.threads);
  s.lane = lane_for(s.thread);
  s.peer = d.below(p.ranks);
  return s;
}
int draws::lane_for(int thread) {
  std::vector<int> usable;
  for (const lane_plan& l : p.lanes)
    if (l.owner < 0 || l.owner == thread) usable.push_back(l.number);
  return d.one_of(usable);
}
int draws::thread_for(int lane) {
  for (const lane_plan& l : p.lanes)
    if (l.number == lane && l.owner >= 0) return l.owner;
  return d.below(p.threads);
}
ending draws::any_ending() {
  return static_cast<ending>(d.below(6));
}
ending draws::free_ending() {
  return d.one_of({ending::flag, ending::flag, ending::callback, ending::queue});
}

std::uint64_t draws::new_tag() {
  const std::uint64_t number = static_cast<std::uint64_t>(phase) * 64 + ++groups;
  return (number << 8) | (d.percent(10) ? 0x7ff0000000000000 : 0);
}

std::uint64_t draws::message_size() {
  if (spent > (4U << 20)) return d.size(300);
  const std::uint64_t n = d.size(2U << 20);
  spent += n;
  return n;
}

namespace {

class phase_maker {
 public:
  phase_maker(plan& p, dice& d, int phase, weather sky) : in_{p, d, phase, sky} {}

  void make() {
    const int count = in_.d.between(3, 12);
    for (int i = 0; i < count; ++i) offer(any_action());
    if (in_.sky == weather::stopped || in_.sky == weather::deadly) offer(harm(in_));
    shuffle();
  }

 private:
  action any_action() {
    switch (in_.d.below(17)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return stream(in_);
      case 4:
        return crowd(in_);
      case 5:
        return puts(in_);
      case 6:
        return get(in_);
      case 7:
        return words(in_);
      case 8:
        return calls(in_);
      case 9:
        return collectives(in_);
      case 10:
        return taken_back(in_);
      case 11:
        return lull(in_);
      case 12:
        return error(in_);
      case 13:
        return notify(in_);
      default:
        return exchange(in_);
    }
  }

  /// Where messages may be lost, what waits for them must be able to stop.
  static void make_revocable(action& a) {
    for (step& s : a) {
      if (s.ends == ending::counter) s.ends = ending::callback;
      const bool waits = s.ends == ending::blocking || s.ends == ending::coroutine;
      if (s.what == verb::recv && waits) s.ends = ending::flag;
      const bool needs_a_message = s.what == verb::recv && s.as == form::limited;
      if (s.as == form::matched || s.as == form::grouped || s.as == form::named || needs_a_message)
        s.as = form::plain;
    }
  }

  /// Any form that the step has.
  void choose_forms(action& a) {
    for (step& s : a) {
      if (!in_.d.percent(25)) continue;
      std::vector<form> there;
      for (int f = static_cast<int>(form::plain) + 1; f <= static_cast<int>(last_form); ++f) {
        s.as = static_cast<form>(f);
        if (has_form(s) && (s.as != form::grouped || is_shared(s.lane))) there.push_back(s.as);
      }
      s.as = there.empty() ? form::plain : in_.d.one_of(there);
      if (s.as == form::posted)
        s.ends = in_.d.one_of({ending::flag, ending::callback, ending::queue, ending::coroutine});
    }
  }
  bool is_shared(int lane) const {
    return std::ranges::find(in_.p.lanes, lane, &lane_plan::number)->owner < 0;
  }

  /// Takes the action if the plan stays a right one with it.
  void offer(action a) {
    if (a.empty()) return;
    choose_forms(a);
    if (in_.sky == weather::deadly || in_.sky == weather::poor) make_revocable(a);
    plan with = in_.p;
    for (const action& taken : actions_)
      with.steps.insert(with.steps.end(), taken.begin(), taken.end());
    with.steps.insert(with.steps.end(), a.begin(), a.end());
    if (why_not(with).empty()) actions_.push_back(std::move(a));
  }

  /// Into each other; one after the other where that would let accesses race, which a flush of
  /// another action had kept in order.
  void shuffle() {
    plan with = in_.p;
    const action mixed = shuffled();
    with.steps.insert(with.steps.end(), mixed.begin(), mixed.end());
    if (why_not(with).empty()) {
      in_.p = std::move(with);
      return;
    }
    for (const action& a : actions_) in_.p.steps.insert(in_.p.steps.end(), a.begin(), a.end());
  }
  action shuffled() {
    action mixed;
    std::vector<action> left = actions_;
    while (!left.empty()) {
      const auto i = static_cast<std::size_t>(in_.d.below(static_cast<int>(left.size())));
      const auto n =
          std::min<std::size_t>(static_cast<std::size_t>(in_.d.between(1, 8)), left[i].size());
      const auto end = left[i].begin() + static_cast<std::ptrdiff_t>(n);
      mixed.insert(mixed.end(), left[i].begin(), end);
      left[i].erase(left[i].begin(), end);
      if (left[i].empty()) left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return mixed;
  }

  draws in_;
  std::vector<action> actions_;
};

bool ends_world(const step& s) {
  return s.what == verb::end_world;
}

/// Ends of lanes, areas and the world of one rank, in any order, and calls after the world's.
action last_steps(plan& p, dice& d, int rank, int& id) {
  action all;
  const auto made = [&](verb v, int lane, int area) {
    step s;
    s.id = id++;
    s.phase = p.phases();
    s.rank = rank;
    s.what = v;
    s.lane = lane;
    s.area = area;
    s.peer = d.below(p.ranks);
    return s;
  };
  const auto add = [&](const step& s) {
    all.insert(all.begin() + d.below(static_cast<int>(all.size()) + 1), s);
  };
  for (const lane_plan& l : p.lanes)
    if (l.owner < 0) add(made(verb::end_lane, l.number, 0));
  for (const area& a : p.areas) add(made(verb::end_area, 0, a.id));
  add(made(verb::end_world, 0, 0));
  for (int i = d.between(0, 3); i > 0; --i) {
    step s = made(verb::use, 0, d.one_of(p.areas).id);
    s.op = d.below(static_cast<int>(late_use::barrier) + 1);
    const auto end = std::find_if(all.begin(), all.end(), ends_world);
    all.insert(end + 1 + d.below(static_cast<int>(all.end() - end)), s);
  }
  return all;
}

}  // namespace

void draw_phase(plan& p, dice& d, int phase, weather sky) {
  phase_maker(p, d, phase, sky).make();
}

void draw_end(plan& p, dice& d) {
  int id = p.ids();
  action all;
  for (int r = 0; r < p.ranks; ++r) {
    const action one = last_steps(p, d, r, id);
    all.insert(all.end(), one.begin(), one.end());
  }
  p.steps.insert(p.steps.end(), all.begin(), all.end());
}

}  // namespace heddle::fuzz
