// SPDX-License-Identifier: BSD-3-Clause
// model_rules.cpp - why_not: whether a plan has only one result, and an end.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "fuzz/model.h"
#include "fuzz/plan_text.h"

namespace heddle::fuzz {
namespace {

std::string about(const step& s, std::string_view what) {
  return fmt::format("step '{}' {}", print(s), what);
}

/// Asynchronous coroutines may be turned away and try again later, so messages are awaited at once.
bool awaited(const step& s) {
  return s.ends == ending::blocking || s.ends == ending::coroutine;
}

// --- each step alone ----------------------------------------------------------------------------

bool may_use(const plan& p, const step& s) {
  return std::any_of(p.lanes.begin(), p.lanes.end(), [&](const lane_plan& l) {
    return l.number == s.lane && (l.owner < 0 || l.owner == s.thread);
  });
}

std::string wrong_access(const plan& p, const step& s) {
  const area* a = p.find_area(s.area);
  if (a == nullptr) return about(s, "names no area");
  if (s.phase < a->first || s.phase > a->last) return about(s, "comes when the area is not there");
  if (a->owner != all_ranks && a->owner != s.peer) return about(s, "names another rank's area");
  if (s.what == verb::atomic) {
    const auto width = static_cast<std::uint64_t>(s.width);
    if (s.at % width != 0 || s.at + width > word_bytes) return about(s, "is not on a word");
    return (a->allowed & 4) == 0 ? about(s, "lacks the right") : "";
  }
  if (s.at < word_bytes || s.at + s.bytes > a->bytes) return about(s, "leaves the area");
  const int wanted = s.what == verb::get ? 1 : 2;
  return (a->allowed & wanted) == 0 ? about(s, "lacks the right") : "";
}

bool has_lane(const plan& p, int number) {
  return std::any_of(p.lanes.begin(), p.lanes.end(),
                     [&](const lane_plan& l) { return l.number == number; });
}

std::string wrong_alone(const plan& p, const step& s) {
  if (s.rank >= p.ranks || s.thread >= p.threads) return about(s, "belongs to nobody");
  if ((s.rank == all_ranks) != is_collective(s.what)) return about(s, "is not for all ranks");
  if (!has_form(s)) return about(s, "has no such form");
  if (is_late(s.what)) return "";
  if (!may_use(p, s)) return about(s, "uses a lane that is not its thread's");
  if (!has_lane(p, s.arrives_on())) return about(s, "goes to a lane that nobody has");
  const bool any = s.what == verb::recv || s.what == verb::probe || s.what == verb::flush;
  if ((s.peer >= p.ranks && !is_collective(s.what)) || s.peer < (any ? -1 : 0))
    return about(s, "names no rank");
  return is_access(s.what) ? wrong_access(p, s) : "";
}

// --- memory -------------------------------------------------------------------------------------

bool overlap(const step& a, const step& b) {
  const auto end = [](const step& s) {
    return s.at + (s.what == verb::atomic ? static_cast<std::uint64_t>(s.width) : s.bytes);
  };
  return a.at < end(b) && b.at < end(a);
}

bool conflict(const step& a, const step& b) {
  if (a.phase != b.phase || a.area != b.area || a.peer != b.peer || !overlap(a, b)) return false;
  if (a.what == verb::atomic && b.what == verb::atomic) return a.at != b.at || a.width != b.width;
  return a.what != verb::get || b.what != verb::get;
}

/// A flush of the lane, or a fence, between number `i` and number `j`.
bool ordered(const plan& p, std::size_t i, std::size_t j) {
  const step& first = p.steps[i];
  const auto same_place = [&](const step& s) {
    return s.rank == first.rank && s.thread == first.thread && s.lane == first.lane;
  };
  if (!same_place(p.steps[j])) return false;
  // Its handler looks at the bytes, at a time that no flush tells.
  if (first.what == verb::put_notify && p.steps[j].what != verb::get) return false;
  if (first.ends == ending::blocking) return true;
  if (first.as == form::blocks) return false;  // a flush need not know of all blocks
  return std::any_of(p.steps.begin() + static_cast<std::ptrdiff_t>(i),
                     p.steps.begin() + static_cast<std::ptrdiff_t>(j), [&](const step& s) {
                       return orders(s.what) && same_place(s) &&
                              (s.peer == first.peer || s.peer == -1);
                     });
}

std::string race(const plan& p) {
  for (std::size_t j = 0; j < p.steps.size(); ++j)
    for (std::size_t i = 0; is_access(p.steps[j].what) && i < j; ++i)
      if (is_access(p.steps[i].what) && conflict(p.steps[i], p.steps[j]) && !ordered(p, i, j))
        return about(p.steps[j], "races with '" + print(p.steps[i]) + "'");
  return "";
}

// --- messages -----------------------------------------------------------------------------------

bool accepts(const step& receive, int source, std::uint64_t tag) {
  return (receive.peer == -1 || receive.peer == source) &&
         tag_match(receive.tag, receive.mask).accepts(tag);
}

std::size_t before(const std::vector<const step*>& list, const step* s) {
  return static_cast<std::size_t>(
      std::count_if(list.begin(), list.end(), [&](const step* other) { return other < s; }));
}

std::size_t cancels(const plan& p, const group& g) {
  return static_cast<std::size_t>(std::count_if(p.steps.begin(), p.steps.end(), [&](const step& s) {
    return s.what == verb::cancel && std::any_of(g.receives.begin(), g.receives.end(),
                                                 [&](const step* r) { return r->id == s.of; });
  }));
}

bool one_stream(const step& a, const step& b) {
  return a.rank == b.rank && a.tag == b.tag;
}

/// Each of the group's receives takes each of its messages whole, or, where only one thread sends
/// with one tag and so the partners are known, its beginning.
std::string wrong_match(const group& g) {
  for (const step* r : g.receives) {
    if (r->thread != g.receives[0]->thread) return about(*r, "shares its group with a thread");
    for (const step* m : g.sends) {
      if (!accepts(*r, m->rank, m->tag)) return about(*r, "does not accept '" + print(*m) + "'");
      if (!one_stream(*m, *g.sends[0]) && r->bytes < m->bytes)
        return about(*r, "may cut '" + print(*m) + "'");
    }
  }
  for (const step* a : g.sends)
    for (const step* b : g.sends)
      if (one_stream(*a, *b) && (a->thread != b->thread || a->lane != b->lane))
        return about(*a, "shares its tag with a thread or a lane");
  return "";
}

/// How many messages may be taken before this one: those before it, and all of other streams.
std::size_t ahead(const group& g, const step* s) {
  return static_cast<std::size_t>(std::count_if(
      g.sends.begin(), g.sends.end(),
      [&](const step* other) { return other != s && (other < s || !one_stream(*other, *s)); }));
}

/// Enough receives, and whoever waits waits for what came before.
std::string wrong_count(const plan& p, const group& g) {
  const std::size_t taken_back = cancels(p, g);
  if (g.receives.size() < g.sends.size() + taken_back)
    return fmt::format("group {} of phase {} lacks a receive", g.number, g.phase);
  for (const step* s : g.sends)
    if (awaited(*s) && (taken_back != 0 || before(g.receives, s) <= ahead(g, s)))
      return about(*s, "waits for a receive that comes later");
  for (const step* r : g.receives)
    if (awaited(*r) && (taken_back != 0 || before(g.sends, r) <= before(g.receives, r)))
      return about(*r, "waits for a message that comes later");
  return "";
}

std::string wrong_probe(const plan& p, const std::vector<group>& all) {
  for (const step& s : p.steps) {
    if (s.what != verb::probe || s.ends != ending::blocking) continue;
    const auto of = std::find_if(all.begin(), all.end(), [&](const group& g) {
      return g.phase == s.phase && g.lane == s.lane && g.to == s.rank &&
             g.number == group_of(s.tag);
    });
    const bool waits_well = of != all.end() && before(of->sends, &s) > before(of->receives, &s) &&
                            of->receives[0]->thread == s.thread &&
                            std::all_of(of->sends.begin(), of->sends.end(),
                                        [&](const step* m) { return accepts(s, m->rank, m->tag); });
    if (!waits_well) return about(s, "waits for a message that may not be there");
  }
  return "";
}

std::string strays(const std::vector<group>& all) {
  for (const group& g : all)
    for (const group& other : all) {
      if (&g == &other || g.phase != other.phase || g.lane != other.lane || g.to != other.to)
        continue;
      for (const step* r : g.receives)
        for (const step* m : other.sends)
          if (accepts(*r, m->rank, m->tag)) return about(*r, "accepts '" + print(*m) + "'");
    }
  return "";
}

std::string wrong_messages(const plan& p) {
  const std::vector<group> all = groups(p);
  for (const group& g : all) {
    if (std::string why = wrong_match(g); !why.empty()) return why;
    if (std::string why = wrong_count(p, g); !why.empty()) return why;
  }
  for (const step& s : p.steps)
    if (s.what == verb::cancel) {
      const step* r = p.find(s.of);
      const bool mine = r != nullptr && r < &s && r->what == verb::recv && r->phase == s.phase &&
                        r->rank == s.rank && r->thread == s.thread && r->lane == s.lane;
      if (!mine || r->ends == ending::counter)
        return about(s, "takes back no receive of its thread's");
    }
  if (std::string why = wrong_probe(p, all); !why.empty()) return why;
  return strays(all);
}

// --- resources and collectives ------------------------------------------------------------------

std::size_t records(const plan& p) {
  const std::string text = p.value_of("HEDDLE_RECORDS", 0);
  return text.empty() ? 1024 : std::stoul(text);
}

std::string too_many(const plan& p) {
  std::map<std::tuple<int, int, int>, std::size_t> load;
  for (const step& s : p.steps) {
    std::size_t cost = 0;
    if (s.what == verb::send || s.what == verb::recv) cost = 1;
    if (is_collective(s.what)) cost = 4;
    if (s.what == verb::recv && s.as == form::matched) cost = 2;
    for (int r = 0; cost != 0 && r < p.ranks; ++r) {
      if (s.rank != r && s.rank != all_ranks) continue;
      if ((load[{s.phase, r, s.lane}] += cost) > records(p) / 2)
        return about(s, "is one more than the lane has records for");
    }
  }
  return "";
}

std::string mixed_collectives(const plan& p) {
  std::map<std::pair<int, int>, int> threads;
  for (const step& s : p.steps)
    if (is_collective(s.what) &&
        threads.emplace(std::pair(s.phase, s.lane), s.thread).first->second != s.thread)
      return about(s, "shares its lane with another thread's collectives");
  return "";
}

/// Groups are of the lanes that stay, and nobody is lost while they are made.
std::string no_group(const plan& p) {
  for (const step& s : p.steps) {
    const auto of = std::ranges::find(p.lanes, s.lane, &lane_plan::number);
    if (s.as == form::grouped && (p.harsh() || of == p.lanes.end() || of->owner >= 0))
      return about(s, "has no group there");
  }
  return "";
}

/// A collective needs the handle of its lane until it has ended, which is awaited after the phase.
std::string reopened_under_collectives(const plan& p) {
  for (const step& s : p.steps) {
    const auto uses_it = [&](const step& other) {
      return is_collective(other.what) && other.phase == s.phase && other.lane == s.lane;
    };
    if (s.what == verb::reopen && std::ranges::any_of(p.steps, uses_it))
      return about(s, "takes the lane away from a collective");
  }
  return "";
}

/// A counter tells one failure for all that it counts.
std::string indistinct(const plan& p) {
  for (const step& s : p.steps)
    if (is_collective(s.what) && s.peer >= p.ranks && s.ends == ending::counter)
      return about(s, "must fail, and could not tell");
  return "";
}

/// Where messages may be lost, receives can be taken back, and each end can be told apart.
std::string irrevocable(const plan& p) {
  for (const step& s : p.steps)
    if (p.harsh() && (s.ends == ending::counter || (s.what == verb::recv && awaited(s))))
      return about(s, "may fail, and could not tell");
  return "";
}

std::string wrong_order(const plan& p) {
  for (std::size_t i = 1; i < p.steps.size(); ++i) {
    const step &a = p.steps[i - 1], &b = p.steps[i];
    if (a.phase > b.phase || (is_late(a.what) && !is_late(b.what)))
      return about(b, "comes too late in the plan");
  }
  return "";
}

}  // namespace

std::string why_not(const plan& p) {
  for (const step& s : p.steps)
    if (std::string why = wrong_alone(p, s); !why.empty()) return why;
  for (const auto rule : {wrong_order, indistinct, irrevocable, race, wrong_messages, too_many,
                          mixed_collectives, reopened_under_collectives, no_group})
    if (std::string why = rule(p); !why.empty()) return why;
  return "";
}

}  // namespace heddle::fuzz
