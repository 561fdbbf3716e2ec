// SPDX-License-Identifier: BSD-3-Clause
// judge.cpp - who is to blame, after the retests.
#include "linktest/diagnose/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::linktest {
namespace {

std::string counted(const retest_summary& s) {
  return fmt::format("{} of {} slow, {:.2f} times as long as usual", s.slow, s.count, s.factor);
}

/// A sign test: each retest that is slow halves the chance that all is noise.
double confidence_after(std::size_t slow_retests, double chance_at_first) {
  return 1 - std::min(chance_at_first, std::exp2(-static_cast<double>(slow_retests)));
}

/// Both ways of a node over one rail, or over all.
struct node_retests {
  retest_summary out, in;  ///< one-way traffic
  retest_summary both;     ///< all of them
};

class trial {
 public:
  trial(const suspects& all, const case_file& facts) : all_(all), facts_(facts) {}

  std::vector<verdict> run() {
    for (const int node : facts_.nodes) judge_node(node);
    for (const slow_cable& c : all_.cables) judge_cable(c);
    for (const slow_port& p : all_.ports) judge_contention(p);
    for (const slow_pair_seen& p : all_.pairs) judge_pair(p);
    std::stable_sort(out_.begin(), out_.end(), [](const verdict& a, const verdict& b) {
      const auto rank = [](const verdict& v) { return v.what == culprit::contention ? 1 : 0; };
      return rank(a) != rank(b) ? rank(a) < rank(b) : a.factor > b.factor;
    });
    return std::move(out_);
  }

 private:
  [[nodiscard]] retest_summary with_others(int node, int rail, bool sends, bool receives) const {
    return facts_.book.summarize(false, [&](const probe& p) {
      if (rail >= 0 && p.rail != rail) return false;
      if (p.from == node) return sends && !facts_.nodes.contains(p.to);
      return receives && p.to == node && !facts_.nodes.contains(p.from);
    });
  }
  [[nodiscard]] node_retests around(int node, int rail) const {
    return {with_others(node, rail, true, false), with_others(node, rail, false, true),
            with_others(node, rail, true, true)};
  }
  /// The chance at first of the strongest suspicion against a node.
  [[nodiscard]] double chance_of(int node) const {
    double least = 1;
    for (const slow_port& p : all_.ports)
      if (p.at.node == node) least = std::min(least, p.chance);
    for (const slow_pair_seen& p : all_.pairs) {
      const observation& o = facts_.seen[p.observation];
      if (o.from == node || o.to == node) least = std::min(least, p.chance);
    }
    return least;
  }

  void judge_node(int node) {
    std::vector<int> slow_rails;
    for (int rail = 0; rail < facts_.rails && facts_.rails > 1; ++rail) {
      const node_retests r = around(node, rail);
      if (is_slow(r)) slow_rails.push_back(rail);
    }
    const bool some_rails =
        !slow_rails.empty() && slow_rails.size() < static_cast<std::size_t>(facts_.rails);
    if (some_rails) {
      for (const int rail : slow_rails) accuse(node, rail, around(node, rail));
    } else if (const node_retests r = around(node, -1); is_slow(r)) {
      accuse(node, -1, r);
    }
  }
  [[nodiscard]] bool is_slow(const node_retests& r) const noexcept {
    return facts_.where.one_way ? r.out.is_slow || r.in.is_slow : r.both.is_slow;
  }

  /// Whether one way of a node is slow on its own: receipts and handshakes go the other way, so a
  /// very slow way makes the other a little slow.
  [[nodiscard]] static bool counts_beside(const retest_summary& way, const retest_summary& other) {
    return way.is_slow && 2 * std::log(way.factor) >= std::log(other.factor);
  }

  void accuse(int node, int rail, const node_retests& r) {
    verdict v;
    v.node = node;
    v.rail = rail;
    v.retested = true;
    const bool one_way = facts_.where.one_way;
    const bool sends = !one_way || counts_beside(r.out, r.in);
    const bool receives = !one_way || counts_beside(r.in, r.out);
    v.what = rail >= 0           ? culprit::rail
             : sends && receives ? culprit::node
             : sends             ? culprit::node_tx
                                 : culprit::node_rx;
    v.factor = !one_way ? r.both.factor : std::max(r.out.factor, r.in.factor);
    v.confidence = confidence_after(r.both.slow, chance_of(node));
    v.evidence = one_way ? fmt::format(
                               "Alone with nodes nobody suspects: what it sends {}; what it "
                               "receives {}.",
                               counted(r.out), counted(r.in))
                         : fmt::format("Alone with nodes nobody suspects: {}.", counted(r.both));
    if (rail >= 0) v.evidence += " Its other rails are as usual.";
    if (!one_way) v.or_else = {"its sending alone, or its receiving alone: use --kernel uni"};
    out_.push_back(std::move(v));
  }

  void judge_cable(const slow_cable& c) {
    const auto examples = [&](const probe& p) {
      return std::any_of(c.examples.begin(), c.examples.end(), [&](std::uint32_t i) {
        return p.from == facts_.all_seen[i].from && p.to == facts_.all_seen[i].to;
      });
    };
    const retest_summary alone = facts_.book.summarize(false, examples);
    const retest_summary together = facts_.book.summarize(true, examples);
    if (!alone.is_slow && !comes_back(together)) return;
    verdict v;
    v.what = alone.is_slow ? culprit::link : culprit::contention;
    v.cable = facts_.where.cable_name(c.cable);
    v.factor = alone.is_slow ? alone.factor : together.factor;
    v.retested = true;
    v.confidence = confidence_after(alone.is_slow ? alone.slow : together.slow, c.chance);
    v.evidence = fmt::format("{} of {} measurements across it were slow. Some again, alone: {}.",
                             c.slow, c.crossed, counted(alone));
    for (const std::uint32_t twin : c.twins) v.or_else.push_back(facts_.where.cable_name(twin));
    out_.push_back(std::move(v));
  }

  /// A node that is as usual alone, and was slow again among others.
  void judge_contention(const slow_port& p) {
    if (accused(p.at.node)) return;
    const retest_summary together = facts_.book.summarize(
        true, [&](const probe& q) { return q.from == p.at.node || q.to == p.at.node; });
    if (!comes_back(together)) return;
    const retest_summary alone = facts_.book.summarize(
        false, [&](const probe& q) { return q.from == p.at.node || q.to == p.at.node; });
    if (alone.is_slow) return;
    verdict v;
    v.what = culprit::contention;
    v.node = p.at.node;
    v.step = facts_.seen[p.examples.front()].step;
    add_contention(v, together, alone, p.chance);
  }

  void judge_pair(const slow_pair_seen& s) {
    const observation& o = facts_.seen[s.observation];
    if (explained(o) || reported(o)) return;
    const auto same = [&](const probe& p) {
      return p.from == o.from && p.to == o.to && p.rail == o.rail;
    };
    const retest_summary alone = facts_.book.summarize(false, same);
    const retest_summary together = facts_.book.summarize(true, same);
    verdict v;
    v.node = o.from;
    v.peer = o.to;
    v.rail = o.rail;
    if (!alone.is_slow) {
      v.what = culprit::contention;
      v.step = o.step;
      if (comes_back(together)) add_contention(v, together, alone, s.chance);
      return;
    }
    v.what = culprit::link;
    v.factor = alone.factor;
    v.retested = true;
    v.confidence = confidence_after(alone.slow, s.chance);
    v.evidence = fmt::format("Again, alone: {}.", counted(alone));
    add_ends(o, v);
    out_.push_back(std::move(v));
  }

  /// Whether both ends are known to be as usual.
  void add_ends(const observation& o, verdict& v) const {
    const node_retests from = around(o.from, -1), to = around(o.to, -1);
    if (from.both.count > 0)
      v.evidence += fmt::format(" The sender with others: {}.", counted(from.both));
    if (to.both.count > 0)
      v.evidence += fmt::format(" The receiver with others: {}.", counted(to.both));
    if (from.both.count == 0) v.or_else.push_back("the sender, which had no other partner");
    if (to.both.count == 0) v.or_else.push_back("the receiver, which had no other partner");
  }

  /// Once slow is chance; contention comes back.
  [[nodiscard]] bool comes_back(const retest_summary& together) const noexcept {
    return together.is_slow && together.count >= 2 &&
           together.factor >= facts_.where.least_contention;
  }

  void add_contention(verdict& v, const retest_summary& together, const retest_summary& alone,
                      double chance) {
    v.factor = together.factor;
    v.retested = true;
    v.confidence = confidence_after(together.slow, chance);
    v.evidence = fmt::format("Again in step {} with all its pairs: {}. Alone: {}.", v.step,
                             counted(together), counted(alone));
    out_.push_back(std::move(v));
  }

  [[nodiscard]] bool accused(int node) const {
    return std::any_of(out_.begin(), out_.end(),
                       [&](const verdict& v) { return v.node == node && v.peer < 0; });
  }
  /// Whether a verdict on one of its ends explains a slow pair.
  [[nodiscard]] bool explained(const observation& o) const {
    return std::any_of(out_.begin(), out_.end(), [&](const verdict& v) {
      if (v.peer >= 0 || !v.cable.empty()) return false;
      return (v.node == o.from && v.what != culprit::node_rx) ||
             (v.node == o.to && v.what != culprit::node_tx);
    });
  }
  /// Two-way traffic shows a slow pair from both of its ends.
  [[nodiscard]] bool reported(const observation& o) const {
    return std::any_of(out_.begin(), out_.end(), [&](const verdict& v) {
      const bool same = v.node == o.from && v.peer == o.to;
      const bool turned = v.node == o.to && v.peer == o.from && !facts_.where.one_way;
      return v.peer >= 0 && (same || turned) && v.rail == o.rail;
    });
  }

  const suspects& all_;
  const case_file& facts_;
  std::vector<verdict> out_;
};

verdict at_first(culprit what, double factor, double chance, std::string evidence) {
  verdict v;
  v.what = what;
  v.factor = factor;
  v.confidence = 1 - chance;
  v.evidence = std::move(evidence);
  return v;
}

bool slow_both_ways(const suspects& all, const port& p) {
  return std::any_of(all.ports.begin(), all.ports.end(), [&](const slow_port& other) {
    return other.at.node == p.node && other.at.rail == p.rail && other.at.sends != p.sends;
  });
}

}  // namespace

std::vector<verdict> judge(const suspects& all, const case_file& facts) {
  return trial(all, facts).run();
}

std::vector<verdict> believe(const suspects& all, std::span<const observation> seen,
                             const surroundings& where, int rails) {
  std::vector<verdict> out;
  for (const slow_port& p : all.ports) {
    const auto same = [&](const verdict& v) {
      return v.node == p.at.node && (rails <= 1 || v.rail == p.at.rail);
    };
    if (std::any_of(out.begin(), out.end(), same)) continue;
    const bool both = !where.one_way || slow_both_ways(all, p.at);
    const culprit way = p.at.sends ? culprit::node_tx : culprit::node_rx;
    verdict v = at_first(rails > 1 ? culprit::rail
                         : both    ? culprit::node
                                   : way,
                         p.factor, p.chance, "Most pairs it is part of are slow.");
    v.node = p.at.node;
    v.rail = rails > 1 ? p.at.rail : -1;
    out.push_back(std::move(v));
  }
  for (const slow_cable& c : all.cables) {
    out.push_back(
        at_first(culprit::link, c.factor, c.chance,
                 fmt::format("{} of {} measurements across it are slow.", c.slow, c.crossed)));
    out.back().cable = where.cable_name(c.cable);
  }
  for (const slow_pair_seen& s : all.pairs) {
    const observation& o = seen[s.observation];
    verdict v = at_first(culprit::link, s.factor, s.chance,
                         "This pair is slower than its ends are with others.");
    v.node = o.from;
    v.peer = o.to;
    v.rail = o.rail;
    if (!o.isolated) v.or_else = {"contention: it was not measured again alone"};
    out.push_back(std::move(v));
  }
  return out;
}

}  // namespace heddle::linktest
