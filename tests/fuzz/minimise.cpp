// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/minimise.h"

#include <algorithm>
#include <utility>

#include "fuzz/model.h"

namespace heddle::fuzz {
namespace {

class minimiser {
 public:
  minimiser(plan failing, const std::function<bool(const plan&)>& fails,
            const std::function<bool()>& over)
      : best_(std::move(failing)), fails_(fails), over_(over) {}

  plan run() {
    for (bool shorter = true; shorter && !over_();) {
      shorter = drop_phases();
      shorter |= drop_groups();
      shorter |= drop_steps();
      shorter |= drop_pairs();
      shorter |= drop_each(&plan::settings);
      shorter |= drop_each(&plan::areas);
      shorter |= drop_each(&plan::lanes);
      shorter |= drop_rank();
      shorter |= drop_thread();
      shorter |= shrink();
      shorter |= flatten();
    }
    return std::move(best_);
  }

 private:
  bool accept(plan candidate) {
    if (candidate == best_ || over_() || !why_not(candidate).empty() || !fails_(candidate))
      return false;
    best_ = std::move(candidate);
    return true;
  }

  bool drop_phases() {
    bool any = false;
    for (int phase = best_.phases(); phase >= 0; --phase) {
      plan less = best_;
      std::erase_if(less.steps, [&](const step& s) { return s.phase == phase; });
      any |= accept(std::move(less));
    }
    return any;
  }

  /// Messages, receives and what asks for them, all that belong together.
  bool drop_groups() {
    bool any = false;
    const plan copy = best_;
    for (const group& g : groups(copy)) {
      plan less = best_;
      std::erase_if(less.steps, [&](const step& s) { return belongs(copy, s, g); });
      any |= accept(std::move(less));
    }
    return any;
  }
  static bool belongs(const plan& p, const step& s, const group& g) {
    const step* const about = s.what == verb::cancel ? p.find(s.of) : &s;
    const bool message = about != nullptr && (about->what == verb::send ||
                                              about->what == verb::recv || s.what == verb::probe);
    return message && about->phase == g.phase && group_of(about->tag) == g.number;
  }

  /// In large pieces first.
  bool drop_steps() {
    bool any = false;
    for (std::size_t piece = std::max<std::size_t>(best_.steps.size() / 2, 1); piece > 0;
         piece /= 2)
      for (std::size_t at = 0; at < best_.steps.size();) {
        plan less = best_;
        const auto begin = less.steps.begin() + static_cast<std::ptrdiff_t>(at);
        const auto n = std::min(piece, less.steps.size() - at);
        less.steps.erase(begin, begin + static_cast<std::ptrdiff_t>(n));
        if (accept(std::move(less)))
          any = true;
        else
          at += piece;
      }
    return any;
  }

  /// A message and its receive, neither of which can go alone.
  bool drop_pairs() {
    bool any = false;
    const plan copy = best_;  // whose steps stay where they are while best_ changes
    for (const group& g : groups(copy))
      for (std::size_t i = 0; i < std::min(g.sends.size(), g.receives.size()); ++i)
        any |= drop_ids(g.sends[i]->id, g.receives[i]->id);
    return any;
  }
  bool drop_ids(int a, int b) {
    plan less = best_;
    std::erase_if(less.steps, [&](const step& s) {
      return s.id == a || s.id == b || (s.what == verb::cancel && s.of == b);
    });
    return accept(std::move(less));
  }

  template <class List>
  bool drop_each(List plan::*list) {
    bool any = false;
    for (std::size_t i = 0; i < (best_.*list).size();) {
      plan less = best_;
      (less.*list).erase((less.*list).begin() + static_cast<std::ptrdiff_t>(i));
      if (accept(std::move(less)))
        any = true;
      else
        ++i;
    }
    return any;
  }

  bool drop_rank() {
    plan less = best_;
    const int last = --less.ranks;
    const auto theirs = [&](const auto& x) { return x.rank == last; };
    std::erase_if(less.steps, [&](const step& s) { return s.rank == last || s.peer == last; });
    std::erase_if(less.settings, theirs);
    std::erase_if(less.areas, [&](const area& a) { return a.owner == last; });
    return last >= 1 && accept(std::move(less));
  }

  /// The last thread's steps become those of the first.
  bool drop_thread() {
    plan less = best_;
    const int last = --less.threads;
    for (step& s : less.steps)
      if (s.thread == last) s.thread = 0;
    for (lane_plan& l : less.lanes)
      if (l.owner == last) l.owner = 0;
    return last >= 1 && accept(std::move(less));
  }

  bool shrink() {
    bool any = false;
    for (std::size_t i = 0; i < best_.steps.size(); ++i) {
      for (const std::uint64_t bytes :
           {std::uint64_t{8}, std::uint64_t{1000}, best_.steps[i].bytes / 2}) {
        if (best_.steps[i].bytes <= bytes) continue;
        plan less = best_;
        less.steps[i].bytes = bytes;
        if (accept(std::move(less))) {
          any = true;
          break;
        }
      }
    }
    return any;
  }

  /// One phase instead of several; plain endings.
  bool flatten() {
    bool any = false;
    plan less = best_;
    for (step& s : less.steps) s.phase = is_late(s.what) ? 1 : 0;
    any |= accept(std::move(less));
    for (std::size_t i = 0; i < best_.steps.size(); ++i) {
      less = best_;
      less.steps[i].as = form::plain;
      any |= accept(std::move(less));
      less = best_;
      less.steps[i].ends = ending::flag;
      any |= accept(std::move(less));
    }
    return any;
  }

  plan best_;
  const std::function<bool(const plan&)>& fails_;
  const std::function<bool()>& over_;
};

}  // namespace

plan minimise(plan failing, const std::function<bool(const plan&)>& fails,
              const std::function<bool()>& over) {
  return minimiser(std::move(failing), fails, over).run();
}

}  // namespace heddle::fuzz
